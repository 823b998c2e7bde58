"""Addresses of entries, under ``/api/v1/``."""

from django.urls import path

from apps.entries import views

urlpatterns = [
    path("entries", views.EntryList.as_view()),
    path("entries/<uuid:entry_id>", views.EntryDetail.as_view()),
    path("entries/<uuid:entry_id>/archive", views.EntryArchive.as_view()),
    path("entries/<uuid:entry_id>/restore", views.EntryRestore.as_view()),
]
