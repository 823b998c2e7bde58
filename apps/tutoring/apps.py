from django.apps import AppConfig


class TutoringConfig(AppConfig):
    name = "apps.tutoring"
