"""Addresses of retrieval, under ``/api/v1/``."""

from django.urls import path

from apps.retrieval import views

urlpatterns = [
    path("retrieve", views.RetrieveView.as_view()),
    path("match", views.MatchView.as_view()),
    path("match-concepts", views.MatchConceptsView.as_view()),
    path("entries/<uuid:id>/walk", views.WalkView.as_view()),
    path("visuals/<name:concept>", views.VisualView.as_view()),
    path("retrievals/<uuid:id>", views.RetrievalView.as_view()),
    path("topics/<name:slug>/graph", views.GraphView.as_view()),
]
