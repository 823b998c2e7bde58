"""Addresses of edges, under ``/api/v1/``."""

from django.urls import path

from apps.edges import views

urlpatterns = [
    path("edges", views.EdgeList.as_view()),
    path("edges/<number:edge_id>", views.EdgeDetail.as_view()),
]
