from django.apps import AppConfig


class EdgesConfig(AppConfig):
    name = "apps.edges"
    verbose_name = "Curriculum"
