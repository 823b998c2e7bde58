"""``manage.py verify_invariants``: does everything that must always hold, hold now?"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.invariants import findings, invariants


class Command(BaseCommand):
    help = "Check every invariant over the database, and show the rows that break one."

    def handle(self, *args: Any, **options: Any) -> None:
        broken = list(findings())
        for finding in broken:
            self.stdout.write(
                self.style.ERROR(f"broken: {finding.invariant.name}: {finding.invariant.about}")
            )
            for row in finding.rows:
                self.stdout.write(f"    {row}")
        total = len(invariants())
        if broken:
            raise CommandError(f"{len(broken)} of {total} invariants are broken")
        self.stdout.write(self.style.SUCCESS(f"{total} invariants hold"))
