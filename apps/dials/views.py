"""Dials: read, turn one, turn several together (api.md, Curriculum; dials.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.api.etags import expected_version
from apps.core.api.problems import missing
from apps.core.api.views import ApiView, shown
from apps.core.errors import Invalid, Problem
from apps.dials.actions import change_dials
from apps.dials.models import Dial
from apps.dials.queries import read_snapshot
from apps.dials.serializers import (
    DialChangeSerializer,
    DialChangesSerializer,
    DialSerializer,
    DialsSerializer,
    shown_dial,
    shown_dials,
)
from apps.rules.dials import DIALS, Change


@dataclass(frozen=True, slots=True)
class _Together:
    """All dials as one thing that has a version."""

    version: int


class DialView(ApiView):
    """What the addresses of dials share: an ETag of them all, since their values keep an order."""

    scope = "author"
    has_etag = True

    def turn(self, changes: Sequence[Change], reason: str) -> None:
        """Make the changes, unless the dials are of another version than the caller's."""
        change_dials(
            changes=changes,
            reason=reason,
            expected_version=expected_version(self.request, _Together(read_snapshot().version)),
            actor=self.actor,
            now=self.now,
        )


class DialList(DialView):
    """All dials."""

    @extend_schema(responses=DialsSerializer)
    def get(self, _request: Request) -> Response:
        """Every dial with its bounds, its values, and who turned it last."""
        return self._shown()

    @extend_schema(request=DialChangesSerializer, responses=DialsSerializer)
    def patch(self, _request: Request) -> Response:
        """Turn several dials, together or not at all."""
        given = self.body(DialChangesSerializer)
        self.turn([Change(**change) for change in given["changes"]], given["reason"])
        return self._shown()

    def _shown(self) -> Response:
        dials = shown_dials(list(Dial.objects.order_by("key", "space")))
        return shown(dials, _Together(dials["version"]))


class DialDetail(DialView):
    """One dial."""

    @extend_schema(responses=DialSerializer)
    def get(self, _request: Request, *, key: str) -> Response:
        """A dial with its bounds, its values, and who turned it last."""
        return self._shown(key)

    @extend_schema(request=DialChangeSerializer, responses=DialSerializer)
    def patch(self, _request: Request, *, key: str) -> Response:
        """Turn a dial. It is in force everywhere within a minute."""
        if key not in DIALS:
            raise missing()
        given = self.body(DialChangeSerializer)
        reason = given.pop("reason")
        try:
            self.turn([Change(key=key, **given)], reason)
        except Invalid as refusal:
            raise _pointing_here(refusal) from refusal
        return self._shown(key)

    def _shown(self, key: str) -> Response:
        if key not in DIALS:
            raise missing()
        rows = list(Dial.objects.order_by("key", "space"))
        version = max((row.version for row in rows), default=0)
        return shown(shown_dial(DIALS[key], rows), _Together(version))


def _pointing_here(refusal: Invalid) -> Invalid:
    """The same refusal for a body that is the one change."""
    problems = [
        Problem(problem.code, problem.message, problem.pointer.removeprefix("/changes/0"))
        for problem in refusal.errors
    ]
    return Invalid(refusal.code, refusal.detail, problems[0].pointer, problems=problems)
