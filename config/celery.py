"""The Celery application: workers and beat find every app's ``tasks`` module through it."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.development")

app = Celery("lode")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
