from django.apps import AppConfig


class DialsConfig(AppConfig):
    name = "apps.dials"
