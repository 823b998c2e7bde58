"""Learners, sessions and retrievals in the admin."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.tutoring.models import Retrieval, Turn
from tests.factories import NOW, make_session
from tests.world import make_user, make_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(make_user("vera", "viewer"))
    return client


def test_a_session_tells_its_turns_with_links(viewer: Client) -> None:
    world = make_world()
    response = viewer.get(reverse("admin:tutoring_tutoringsession_change", args=[world.session.pk]))
    (row,) = response.context["panels"][0].rows
    assert row[1] == row[2] == "plain words"
    assert reverse("admin:entries_entry_change", args=[world.entry.pk]) in row[3]
    assert reverse("admin:tutoring_retrieval_change", args=[world.retrieval.pk]) in row[5]


def test_a_turn_that_taught_what_is_gone(viewer: Client) -> None:
    session = make_session()
    turn = Turn.objects.create(
        session=session, number=1, student_message="?", taught_entry=session.pk, created_at=NOW
    )
    response = viewer.get(reverse("admin:tutoring_tutoringsession_change", args=[session.pk]))
    assert response.context["panels"][0].rows[0][3] == "–"
    assert viewer.get(reverse("admin:tutoring_turn_change", args=[turn.pk])).status_code == 200


def test_a_retrieval_shows_the_prompt_line_by_line_and_what_was_found(viewer: Client) -> None:
    world = make_world()
    response = viewer.get(reverse("admin:tutoring_retrieval_change", args=[world.retrieval.pk]))
    body = response.content.decode()
    assert '<pre class="lode-text">## TOPIC MEMORY\n- [strong] plain words</pre>' in body
    (row,) = response.context["panels"][0].rows
    assert row[1:] == ["topic memory", "strong", "0.750", "0.800", "–", "semantic, concept"]
    assert reverse("admin:catalog_topic_change", args=[world.topic.pk]) in body


@pytest.mark.parametrize(
    "response",
    [
        {},
        [],
        {"prompt": None, "topic_memory": None},
        {"topic_memory": [{}]},
        {"student_patterns": [{"entry": None}]},
    ],
)
def test_an_answer_of_another_shape_breaks_no_page(viewer: Client, response: object) -> None:
    retrieval = Retrieval.objects.create(
        request={}, response=response, space="hash/hash-128", dials_version=0, created_at=NOW
    )
    assert viewer.get(reverse("admin:tutoring_retrieval_change", args=[retrieval.pk])).status_code == 200
    assert viewer.get(reverse("admin:tutoring_retrieval_changelist")).status_code == 200


def test_a_learner_is_found_by_how_the_id_begins(viewer: Client) -> None:
    learner = make_world().session.learner
    for address in ("admin:tutoring_learner_changelist", "admin:tutoring_tutoringsession_changelist"):
        assert viewer.get(reverse(address), {"q": str(learner)[:5]}).context["cl"].result_count == 1
        assert viewer.get(reverse(address), {"q": "nobody"}).context["cl"].result_count == 0


def test_nothing_of_a_learner_is_written_here(client: Client) -> None:
    world = make_world()
    client.force_login(make_user("anna", "curriculum author"))
    for model, row in (("tutoringsession", world.session), ("retrieval", world.retrieval)):
        for verb in ("change", "delete"):
            address = reverse(f"admin:tutoring_{model}_{verb}", args=[row.pk])
            assert client.post(address, {"post": "yes"}).status_code == 403
