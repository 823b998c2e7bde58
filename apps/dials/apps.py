from django.apps import AppConfig


class DialsConfig(AppConfig):
    name = "apps.dials"
    verbose_name = "Retrieval"
