from django.apps import AppConfig


class TutoringConfig(AppConfig):
    name = "apps.tutoring"
    verbose_name = "Learners"
