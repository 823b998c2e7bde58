"""The pages as a person sees them."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page

from tests.world import make_many, make_user, make_world

pytestmark = pytest.mark.django_db(transaction=True)


def test_pages_are_dressed(
    page: Page, log_in: Callable[[User], None], picture: Callable[[str], None]
) -> None:
    world = make_world()
    make_many(60)
    log_in(make_user("root", is_superuser=True))
    for name, address in {
        "overview": reverse("admin:index"),
        "entries": reverse("admin:entries_entry_changelist"),
        "entry": reverse("admin:entries_entry_change", args=[world.entry.pk]),
        "drawing": reverse("admin:entries_entry_change", args=[world.drawing.pk]),
        "edges": reverse("admin:edges_edge_changelist"),
        "edge": reverse("admin:edges_edge_change", args=[world.edge.pk]),
        "session": reverse("admin:tutoring_tutoringsession_change", args=[world.session.pk]),
        "retrieval": reverse("admin:tutoring_retrieval_change", args=[world.retrieval.pk]),
        "dials": reverse("admin:dials_dial_changelist"),
        "topics": reverse("admin:catalog_topic_changelist"),
        "concept": reverse("admin:catalog_concept_change", args=[world.concept.pk]),
        "audit": reverse("admin:audit_auditevent_changelist"),
        "keys": reverse("admin:clients_apikey_changelist"),
        "learners": reverse("admin:tutoring_learner_changelist"),
    }.items():
        page.goto(address)
        picture(name)
