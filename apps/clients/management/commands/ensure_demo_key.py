"""See to it that there is a key to try things with, and show it."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.clients import secrets
from apps.clients.actions import KeyDraft, ensure_key
from apps.clients.models import Scope
from apps.core.actors import Actor
from apps.core.secrets import kept_secret

SCOPES = (Scope.RETRIEVE, Scope.WRITE, Scope.AUTHOR)


class Command(BaseCommand):
    help = "Make the demo key if it is not there, keep it in the folder of state, and print it."

    def handle(self, *_: Any, **__: Any) -> None:
        text = kept_secret(settings.LODE_VAR / "demo_key", length=secrets.RANDOM_BYTES, prefix=secrets.PREFIX)
        key = ensure_key(
            text=text,
            draft=KeyDraft(name="demo", scopes=SCOPES),
            actor=Actor("system", "ensure_demo_key"),
            now=timezone.now(),
        )
        if key.revoked_at is not None:
            raise CommandError("the demo key was revoked; make another with manage.py create_api_key")
        self.stdout.write(text)
