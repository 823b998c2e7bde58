"""The admin's sidebar: what a person may see, in the order in which it is used."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the sidebar: a model's list, or the page of a named address."""

    title: str
    icon: str
    model: str = ""
    address: str = ""

    def as_navigation(self, request: HttpRequest) -> dict[str, Any]:
        """The shape that the theme takes."""
        app_label, _, name = self.model.partition(".")
        link = self.address or f"admin:{app_label}_{name}_changelist"
        permitted = not self.model or request.user.has_perm(f"{app_label}.view_{name}")
        return {
            "title": self.title,
            "icon": self.icon,
            "link": reverse(link),
            "permission": (lambda _request: True) if permitted else (lambda _request: False),
        }


GROUPS: tuple[tuple[str, tuple[Item, ...]], ...] = (
    ("", (Item("Overview", "home", address="admin:index"),)),
    (
        "Curriculum",
        (
            Item("Topics", "menu_book", "catalog.topic"),
            Item("Concepts", "lightbulb", "catalog.concept"),
            Item("Entries", "sticky_note_2", "entries.entry"),
            Item("Edges", "account_tree", "edges.edge"),
        ),
    ),
    (
        "Learners",
        (
            Item("Learners", "school", "tutoring.learner"),
            Item("Sessions", "forum", "tutoring.tutoringsession"),
            Item("Turns", "chat", "tutoring.turn"),
        ),
    ),
    (
        "Retrieval",
        (
            Item("Retrievals", "manage_search", "tutoring.retrieval"),
            Item("Dials", "tune", "dials.dial"),
            Item("Embedding spaces", "scatter_plot", "embeddings.embeddingspace"),
        ),
    ),
    (
        "System",
        (
            Item("Audit", "history", "audit.auditevent"),
            Item("API keys", "key", "clients.apikey"),
            Item("Schedules", "schedule", "django_celery_beat.periodictask"),
            Item("Users", "person", "auth.user"),
            Item("Groups", "group", "auth.group"),
        ),
    ),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar's groups for whoever asks."""
    return [
        {"title": title, "items": [item.as_navigation(request) for item in items]} for title, items in GROUPS
    ]
