"""Addresses of import and export, under ``/api/v1/``."""

from django.urls import path

from apps.curriculum import views

urlpatterns = [
    path("curriculum/import", views.CurriculumImport.as_view()),
    path("curriculum/export", views.CurriculumExport.as_view()),
]
