"""``manage.py load_demo``: a security course with three learners, into an empty database."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.core.actors import Actor
from apps.core.ids import uuid7
from apps.curriculum.demo.loading import DemoReport, load_demo
from apps.curriculum.management.terminal import Output, Steps
from apps.dials.queries import get_dials


class Command(BaseCommand):
    help = "Load the demo curriculum with its learners, if the database is empty."

    def handle(self, *args: Any, **options: Any) -> None:
        with Steps().shown() as steps:
            report = load_demo(
                dials=get_dials("hash"),
                actor=Actor("system", "load_demo"),
                now=timezone.now(),
                run=uuid7(),
                say=steps.say,
            )
        Output(self.stdout).line(_summary(report, steps.seconds))


def _summary(report: DemoReport | None, seconds: float) -> str:
    if report is None:
        return "nothing to do: the database holds a curriculum or learners already"
    course = ", ".join(f"{counts.created} {kind}" for kind, counts in report.course.kinds.items())
    learners = f"{report.learners} learners with {report.patterns} patterns and {report.sessions} sessions"
    return f"{course}; {learners} ({report.turns} turns) in {seconds:.1f} s"
