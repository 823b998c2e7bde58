"""Entries in the admin: what an author sees, and writes."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.audit.models import AuditEvent
from apps.core.invariants import findings
from apps.entries.models import Entry, EntryVector
from tests.factories import NOW, make_concept, make_edge, make_entry, make_learner, make_space, make_topic
from tests.pages import errors, filled
from tests.world import DRAWING, make_user, make_world

pytestmark = pytest.mark.django_db
LIST, NEW = reverse("admin:entries_entry_changelist"), reverse("admin:entries_entry_add")


@pytest.fixture
def author(client: Client) -> Client:
    client.force_login(make_user("anna", "curriculum author"))
    return client


def page(entry: Entry, verb: str = "change") -> str:
    return reverse(f"admin:entries_entry_{verb}", args=[entry.pk])


def created(author: Client, **typed: Any) -> Any:
    return author.post(NEW, filled(author, NEW, **{"title": "T", "instruction": "I.", **typed}))


def last_event() -> tuple[str, str]:
    event = AuditEvent.objects.order_by("-id")[0]
    return event.actor, event.verb


class TestCreate:
    def test_a_fact_of_a_topic(self, author: Client) -> None:
        topic, concept = make_topic(), make_concept()
        response = created(author, scope="public", topic=topic.pk, concept=concept.pk, detail="a\nb")
        assert response.status_code == 302
        entry = Entry.objects.get()
        assert (entry.topic, entry.concept_slug, entry.detail) == (topic, concept.slug, "a\nb")
        assert (entry.confidence, entry.maturity, entry.source_type) == (Decimal("0.8"), "candidate", "seed")
        assert AuditEvent.objects.get(verb="entry.create").actor == "user:anna"
        assert list(findings()) == []

    def test_a_move_has_a_name_of_its_own(self, author: Client) -> None:
        concept = make_concept()
        created(author, scope="tutor", name="ask-why", concept=concept.pk, visual="typed before")
        entry = Entry.objects.get()
        assert (entry.concept_slug, entry.visual, entry.topic) == ("ask-why", None, None)

    def test_a_drawing_is_sanitised(self, author: Client) -> None:
        concept = make_concept()
        bad = created(author, scope="visual", concept=concept.pk, visual="<svg onload='alert(1)'/>")
        assert "take out onload=" in errors(bad)["visual"][0]
        assert created(author, scope="visual", concept=concept.pk, visual=DRAWING).status_code == 302
        assert "<circle" in str(Entry.objects.get().visual)

    @pytest.mark.parametrize(
        ("typed", "field", "says"),
        [
            ({"scope": "public"}, "topic", "has a topic"),
            ({"scope": "visual"}, "visual", "A drawing stands in scope visual"),
            ({"scope": "tutor", "name": "Not a slug"}, "name", "is no slug"),
            ({"scope": "tutor", "instruction": " \n"}, "instruction", "has an instruction"),
            ({"scope": "tutor", "confidence": "1.5"}, "confidence", "less than or equal to 1"),
            ({"scope": "tutor", "confidence": "NaN"}, "confidence", "Enter a number"),
            ({"scope": "tutor", "topic": "99999"}, "topic", "not one of the available choices"),
            ({"scope": "tutor", "concept": "x'y"}, "concept", "not one of the available choices"),
            ({"scope": "student:anna"}, "scope", "not one of the available choices"),
        ],
    )
    def test_what_is_refused_stands_at_its_field(
        self, author: Client, typed: dict[str, str], field: str, says: str
    ) -> None:
        response = created(author, detail="kept", **typed)
        assert says in errors(response)[field][0]
        assert response.context["adminform"].form["detail"].value() == "kept"
        assert not Entry.objects.exists()

    def test_a_taken_identity_leads_to_whose_it_is(self, author: Client) -> None:
        concept = make_concept()
        taken = make_entry(concept_slug=concept.slug)
        response = created(author, scope="public", topic=taken.topic_id, concept=concept.pk)
        assert "belongs to an entry of another content" in errors(response)["__all__"][0]
        assert f'href="{page(taken)}"' in response.content.decode()


class TestChange:
    def test_only_what_was_touched_is_written(self, author: Client) -> None:
        entry = make_entry(detail="\r\nodd\r\nends ", instruction="Keep.")
        before = entry.text_hash
        assert author.post(page(entry), filled(author, page(entry))).status_code == 302
        entry.refresh_from_db()
        assert (entry.version, entry.text_hash) == (1, before)
        author.post(page(entry), filled(author, page(entry), title="New title"))
        entry.refresh_from_db()
        assert (entry.title, entry.detail) == ("New title", "\r\nodd\r\nends ")
        assert last_event() == ("user:anna", "entry.change")

    def test_a_confidence_moves_through_its_ledger(self, author: Client) -> None:
        entry = make_entry()
        author.post(page(entry), filled(author, page(entry), confidence="0.91", maturity="pattern"))
        entry.refresh_from_db()
        assert (entry.confidence, entry.maturity) == (Decimal("0.91"), "pattern")
        assert list(findings()) == []
        assert "was set" in author.get(page(entry)).content.decode()

    def test_another_concept_and_none(self, author: Client) -> None:
        entry, concept = make_entry(), make_concept()
        author.post(page(entry), filled(author, page(entry), concept=concept.pk))
        entry.refresh_from_db()
        assert entry.concept_slug == concept.slug
        author.post(page(entry), filled(author, page(entry), concept=""))
        entry.refresh_from_db()
        assert entry.concept_slug == "_unanchored_"

    def test_a_move_is_renamed(self, author: Client) -> None:
        entry = make_entry(visibility_scope="tutor", concept_slug="ask-why")
        author.post(page(entry), filled(author, page(entry), name="ask-how"))
        entry.refresh_from_db()
        assert entry.concept_slug == "ask-how"
        response = author.post(page(entry), filled(author, page(entry), name="Not a slug"))
        assert "is no slug" in errors(response)["name"][0]

    def test_a_conflict_loses_nothing(self, author: Client) -> None:
        entry = make_entry(instruction="Old.")
        sent = filled(author, page(entry), instruction="Mine.")
        Entry.objects.filter(pk=entry.pk).update(instruction="His.")
        response = author.post(page(entry), sent)
        assert response.context["adminform"].form["instruction"].value() == "Mine."
        assert errors(response)["instruction"] == ["Stored now: His."]
        entry.refresh_from_db()
        assert entry.instruction == "His."

    def test_a_grade_meanwhile_is_no_conflict(self, author: Client) -> None:
        entry = make_entry()
        sent = filled(author, page(entry), title="Mine")
        Entry.objects.filter(pk=entry.pk).update(confidence=Decimal("0.85"), success_count=1)
        assert author.post(page(entry), sent).status_code == 302
        entry.refresh_from_db()
        assert (entry.title, entry.confidence) == ("Mine", Decimal("0.85"))

    def test_a_grade_and_a_stated_confidence_are_one(self, author: Client) -> None:
        entry = make_entry()
        sent = filled(author, page(entry), confidence="0.5")
        Entry.objects.filter(pk=entry.pk).update(confidence=Decimal("0.85"))
        assert errors(author.post(page(entry), sent))["confidence"] == ["Stored now: 0.85"]

    def test_archive_and_restore(self, author: Client) -> None:
        entry = make_entry()
        author.post(page(entry, "archive"), {"version": 1})
        entry.refresh_from_db()
        assert (entry.maturity, last_event()) == ("archived", ("user:anna", "entry.archive"))
        assert author.post(page(entry), {"title": "x"}).status_code == 403
        author.post(page(entry, "restore"), {"version": entry.version})
        entry.refresh_from_db()
        assert (entry.maturity, list(findings())) == ("candidate", [])


class TestOfALearner:
    def test_is_read_and_never_written_here(self, author: Client) -> None:
        entry = make_entry(visibility_scope=f"student:{make_learner()}")
        assert author.get(page(entry)).status_code == 200
        assert author.post(page(entry), {"title": "x"}).status_code == 403
        for verb in ("archive", "restore"):
            assert author.post(page(entry, verb), {"version": 1}).status_code == 403
        chosen = {"action": "archive_selected", "_selected_action": [entry.pk]}
        assert author.post(LIST, chosen).status_code == 403
        entry.refresh_from_db()
        assert entry.archived_at is None


class TestPage:
    def test_says_where_an_entry_stands(self, author: Client) -> None:
        entry = make_entry(confidence=Decimal("0.55"))
        body = author.get(page(entry)).content.decode()
        assert "below its floor 0.70" in body
        assert "It waits for its vector" in body
        space = make_space()
        EntryVector.objects.create(
            entry=entry,
            visibility_scope="public",
            space=space,
            dimensions=128,
            text_hash=entry.text_hash,
            embedding=[1.0, *[0.0] * 127],
            created_at=NOW,
        )
        assert "its vector in hash/hash-128 is current" in author.get(page(entry)).content.decode()
        Entry.objects.filter(pk=entry.pk).update(title="Another text")
        assert "It waits for its vector" in author.get(page(entry)).content.decode()

    def test_shows_edges_both_ways_as_sentences(self, author: Client) -> None:
        here, needed, needing = make_entry(), make_entry(title="Keys"), make_entry(title="Modes")
        out = make_edge(source=here, target=needed, edge_type="prerequisite", condition="always")
        make_edge(source=needing, target=here, edge_type="leads_to")
        outgoing, incoming, ledger, _ = author.get(page(here)).context["panels"]
        (row,) = outgoing.rows
        assert ("needs" in row[0], "Keys" in row[1], row[2]) == (True, True, "always")
        assert reverse("admin:edges_edge_change", args=[out.pk]) in row[0]
        assert "leads to" in incoming.rows[0][0]
        assert ledger.rows[0][1:] == ["began", "–", "0.80"]

    def test_shows_a_drawing_that_can_run_nothing(self, author: Client) -> None:
        drawing = make_entry(visibility_scope="visual", visual="<svg><script>alert(1)</script></svg>")
        body = author.get(page(drawing)).content.decode()
        assert '<img class="lode-drawing"' in body
        assert 'src="data:image/svg+xml;base64,' in body
        assert "<script>alert(1)" not in body

    def test_costs_the_same_however_much_hangs_on_it(
        self, author: Client, django_assert_max_num_queries: Any
    ) -> None:
        entry = make_entry()
        for _ in range(30):
            make_edge(source=entry)
        with django_assert_max_num_queries(25):
            assert len(author.get(page(entry)).context["panels"][0].rows) == 20

    def test_options_name_where_an_entry_stands(self, author: Client) -> None:
        entry = make_entry(title="Nonce reuse", topic=make_topic(title="Cryptography"))
        make_entry(title="Nonce of Anna", visibility_scope=f"student:{make_learner()}")
        make_entry(title="Nonce old", maturity="archived")
        found = author.get(reverse("admin:entries_entry_options"), {"term": "nonce"}).json()
        assert found["results"] == [{"id": str(entry.pk), "text": "Nonce reuse · Cryptography"}]

    def test_a_pasted_id_finds_its_entry(self, author: Client) -> None:
        world = make_world()
        assert list(author.get(LIST, {"q": f" {world.entry.pk} "}).context["cl"].result_list) == [world.entry]


def test_a_viewer_writes_nothing(client: Client) -> None:
    entry = make_entry()
    client.force_login(make_user("vera", "viewer"))
    body = client.get(page(entry)).content.decode()
    assert 'name="title"' not in body
    assert page(entry, "archive") not in body
    for address in (NEW, page(entry), page(entry, "archive"), page(entry, "restore"), page(entry, "delete")):
        assert client.post(address, {"title": "x"}).status_code == 403
    assert client.get(reverse("admin:entries_entry_options")).status_code == 200
