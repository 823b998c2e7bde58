"""The audit in the admin."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from apps.audit.admin.events import PAGES
from apps.audit.models import AuditEvent, AuditImage
from apps.catalog.actions import change_topic, create_topic
from tests.factories import ACTOR, NOW, make_learner
from tests.world import make_user, make_world

pytestmark = pytest.mark.django_db
LIST = reverse("admin:audit_auditevent_changelist")


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(make_user("vera", "viewer"))
    return client


def shown(client: Client, **query: Any) -> list[AuditEvent]:
    return list(client.get(LIST, query).context["cl"].result_list)


def test_an_event_shows_what_changed_and_who_did_it(viewer: Client) -> None:
    topic, _ = create_topic(slug="crypto", title="Crypto", actor=ACTOR, now=NOW)
    change_topic(topic=topic, changes={"title": "Cryptography"}, actor=ACTOR, now=NOW)
    (event,) = shown(viewer, q="topic.change")
    response = viewer.get(reverse("admin:audit_auditevent_change", args=[event.pk]))
    (panel,) = response.context["panels"]
    assert panel.rows == [["title", "Crypto", "Cryptography"]]
    assert "system:test" in response.content.decode()
    page = viewer.get(reverse("admin:catalog_topic_change", args=[topic.pk])).content.decode()
    assert "topic.create" in page


def test_search_takes_an_id_an_actor_or_a_verb(viewer: Client) -> None:
    topic, _ = create_topic(slug="crypto", title="Crypto", actor=ACTOR, now=NOW)
    for term in (str(topic.pk), "system:test", "topic.create"):
        assert [event.target_kind for event in shown(viewer, q=term)] == ["topic"]
    assert shown(viewer, q="topic.change") == []


def test_history_of_a_row_is_its_events(viewer: Client) -> None:
    topic, _ = create_topic(slug="crypto", title="Crypto", actor=ACTOR, now=NOW)
    make_world()
    response = viewer.get(reverse("admin:catalog_topic_history", args=[topic.pk]))
    events = viewer.get(response.headers["Location"]).context["cl"].result_list
    assert {(event.target_kind, event.target_id) for event in events} == {("topic", str(topic.pk))}


def test_what_has_no_history_says_so(viewer: Client) -> None:
    world = make_world()
    address = reverse("admin:tutoring_retrieval_history", args=[world.retrieval.pk])
    assert viewer.get(address).status_code == 404


def test_forgotten_content_is_said_to_be_forgotten(viewer: Client) -> None:
    learner = make_learner()
    event = AuditEvent.objects.get(target_kind="learner", target_id=str(learner.pk))
    image = AuditImage.objects.get(event=event)
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lode.erase_subject', %s, true)", [image.subject])
    image.delete()
    body = viewer.get(reverse("admin:audit_auditevent_change", args=[event.pk])).content.decode()
    assert "was forgotten" in body


def test_every_audited_kind_has_its_page() -> None:
    make_world()
    assert set(AuditEvent.objects.values_list("target_kind", flat=True)) <= set(PAGES)
