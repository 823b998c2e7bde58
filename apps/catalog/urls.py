"""Addresses of topics and concepts, under ``/api/v1/``."""

from django.urls import path

from apps.catalog import views

urlpatterns = [
    path("topics", views.TopicList.as_view()),
    path("topics/<name:slug>", views.TopicDetail.as_view()),
    path("topics/<name:slug>/archive", views.TopicArchive.as_view()),
    path("topics/<name:slug>/restore", views.TopicRestore.as_view()),
    path("concepts", views.ConceptList.as_view()),
    path("concepts/<name:slug>", views.ConceptDetail.as_view()),
    path("concepts/<name:slug>/archive", views.ConceptArchive.as_view()),
    path("concepts/<name:slug>/restore", views.ConceptRestore.as_view()),
]
