"""The admin's first page: what Lode holds, in one look, and what asks for somebody's attention."""

from typing import Any

from django.http import HttpRequest

from apps.audit.admin.events import latest_events
from apps.curation import overview


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The first page's context: what the person may see, or what to do first where there is nothing yet."""
    allowed = request.user.has_perm
    totals = overview.totals(allowed)
    return {
        **context,
        "title": "Overview",
        "totals": totals,
        "is_empty": not any(number.value for number in totals),
        "cards": overview.cards(allowed),
        "attention": overview.attention(allowed),
        "panels": [latest_events()] if allowed("audit.view_auditevent") else [],
    }
