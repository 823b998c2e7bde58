"""Dials: every threshold with its value, whoever turned it, and what it does. They are turned by the API."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.template.response import TemplateResponse
from unfold.decorators import display

from apps.audit.admin.events import recent_events
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin
from apps.dials.models import Dial
from apps.rules import dials as registry

_HEADERS = ("Dial", "Value", "Default", "Takes", "What it does", "Last turned")


@admin.register(Dial)
class DialAdmin(ReadOnlyAdmin):
    """The list is the registry's: a dial that nobody turned has no row, and is shown all the same."""

    audit_kind = "dial"
    search_fields = ("key",)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        query = request.GET.get("q", "").strip()
        context = {
            **self.admin_site.each_context(request),
            "title": "Dials",
            "opts": self.opts,
            "query": query,
            "panels": _panels(query),
            **(extra_context or {}),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "admin/dials/dial/change_list.html", context)

    @display(description="value")
    def value_words(self, dial: Dial) -> str:
        return html.json_value(dial.value)

    def get_panels(self, request: HttpRequest, obj: Dial) -> Sequence[html.Panel]:
        return [recent_events("dial", obj.pk)]


def _panels(query: str) -> list[html.Panel]:
    """A panel for each group of dials whose key or help holds ``query``."""
    turned: dict[str, list[Dial]] = defaultdict(list)
    for row in Dial.objects.order_by("key", "space"):
        turned[row.key].append(row)
    groups: dict[str, list[list[object]]] = defaultdict(list)
    for key, dial in registry.DIALS.items():
        if query.casefold() in f"{key} {dial.help}".casefold():
            groups[dial.group].append(_row(dial, turned[key]))
    return [html.Panel(group.capitalize(), _HEADERS, rows, nothing="") for group, rows in groups.items()]


def _row(dial: registry.Dial, turned: Sequence[Dial]) -> list[object]:
    defaults = {"": dial.default()} if not dial.by_space else dial.defaults
    stored = {row.space: row.value for row in turned}
    return [
        html.strong(dial.key),
        html.lines(_values({**defaults, **stored}, dial.unit)),
        html.lines(_values(defaults, "")),
        dial.bounds,
        dial.help,
        html.lines(
            html.link_to(row, f"{html.moment(row.changed_at)} by {row.changed_by}: {row.reason}")
            for row in turned
        )
        or html.NOTHING,
    ]


def _values(values: Mapping[str, object], unit: str) -> list[str]:
    """One value, or one for each space."""
    return [
        f"{space}: {_said(value)}" if space else f"{_said(value)} {unit}".strip()
        for space, value in values.items()
    ]


def _said(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
