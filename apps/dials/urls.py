"""Addresses of dials, under ``/api/v1/``."""

from django.urls import path

from apps.dials import views

urlpatterns = [
    path("dials", views.DialList.as_view()),
    path("dials/<slug:key>", views.DialDetail.as_view()),
]
