"""Make an API key and show it, this once."""

import datetime as dt
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.clients.actions import KeyDraft, create_key
from apps.clients.models import Scope, Source
from apps.core.actors import Actor
from apps.core.errors import Invalid

MOST_DAYS = 36_500


def _days(text: str) -> dt.timedelta:
    days = float(text)
    if not 0 < days <= MOST_DAYS:
        raise ArgumentTypeError(f"a key expires in the future, and within {MOST_DAYS} days")
    return dt.timedelta(days=days)


class Command(BaseCommand):
    help = "Make an API key. It is printed once, and only its hash is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="What the key is for, as lists and the audit name it.")
        parser.add_argument("--scope", action="append", required=True, choices=Scope.values)
        parser.add_argument("--source", action="append", default=[], choices=Source.values)
        parser.add_argument(
            "--topic", action="append", default=[], metavar="SLUG", help="Bind to these topics."
        )
        parser.add_argument("--learner-prefix", default="", help="Bind to learners whose id begins so.")
        parser.add_argument("--rate", type=int, default=600, metavar="N", help="Calls a minute (600).")
        parser.add_argument("--expires", type=_days, metavar="DAYS", help="Days until it expires (never).")

    def handle(self, *_: Any, **options: Any) -> None:
        now = timezone.now()
        days = options["expires"]
        draft = KeyDraft(
            name=options["name"],
            scopes=options["scope"],
            sources=options["source"],
            topics=options["topic"],
            learner_prefix=options["learner_prefix"],
            rate_per_minute=options["rate"],
            expires_at=None if days is None else now + days,
        )
        try:
            text = create_key(draft=draft, actor=Actor("system", "create_api_key"), now=now)[1]
        except Invalid as refusal:
            raise CommandError("; ".join(error.message for error in refusal.errors)) from refusal
        self.stdout.write(text)
