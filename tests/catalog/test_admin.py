"""Topics and concepts in the admin, written by authors."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from apps.audit.models import AuditEvent
from apps.catalog.actions import create_concept
from apps.catalog.models import Concept, Topic
from tests.factories import ACTOR, NOW, make_concept, make_entry, make_topic
from tests.pages import errors, filled
from tests.world import make_user

pytestmark = pytest.mark.django_db
TOPICS, NEW_TOPIC = reverse("admin:catalog_topic_changelist"), reverse("admin:catalog_topic_add")
NEW_CONCEPT = reverse("admin:catalog_concept_add")


@pytest.fixture
def author(client: Client) -> Client:
    client.force_login(make_user("anna", "curriculum author"))
    return client


def page(row: Topic | Concept, verb: str = "change") -> str:
    return reverse(f"admin:catalog_{row._meta.model_name}_{verb}", args=[row.pk])


def last_event() -> tuple[str, str]:
    event = AuditEvent.objects.order_by("-id")[0]
    return event.actor, event.verb


class TestTopics:
    def test_a_new_one_takes_its_slug_from_its_title(self, author: Client) -> None:
        response = author.post(NEW_TOPIC, filled(author, NEW_TOPIC, title="Web security: C++"))
        assert response.status_code == 302
        topic = Topic.objects.get()
        assert (topic.slug, topic.title) == ("web-security-c-plus-sign-plus-sign", "Web security: C++")
        assert last_event() == ("user:anna", "topic.create")
        assert not LogEntry.objects.exists()

    @pytest.mark.parametrize(
        ("typed", "field", "says"),
        [
            ({"title": "Web", "slug": "Web Security"}, "slug", "'web-security' would be one"),
            ({"title": "", "slug": "web"}, "title", "This field is required"),
            ({"title": "!!", "slug": ""}, "slug", "is no slug"),
            ({"title": "x" * 301, "slug": "web"}, "title", "at most 300 characters"),
            ({"title": "a\x00b", "slug": "web"}, "title", "Null characters"),
        ],
    )
    def test_what_is_refused_stands_at_its_field(
        self, author: Client, typed: dict[str, str], field: str, says: str
    ) -> None:
        response = author.post(NEW_TOPIC, filled(author, NEW_TOPIC, description="kept", **typed))
        assert says in errors(response)[field][0]
        assert response.context["adminform"].form["description"].value() == "kept"
        assert not Topic.objects.exists()

    def test_a_taken_slug_leads_to_whose_it_is(self, author: Client) -> None:
        topic = make_topic(slug="web", title="Web")
        response = author.post(NEW_TOPIC, filled(author, NEW_TOPIC, title="Another", slug="web"))
        assert "exists with another content" in errors(response)["slug"][0]
        assert f'href="{page(topic)}"' in response.content.decode()
        again = author.post(NEW_TOPIC, filled(author, NEW_TOPIC, title="Web", slug="web"))
        assert "There is one already" in errors(again)["__all__"][0]

    def test_a_change_is_audited_with_who_made_it(self, author: Client) -> None:
        topic = make_topic(title="Web")
        assert author.post(page(topic), filled(author, page(topic), title="The web")).status_code == 302
        topic.refresh_from_db()
        assert topic.title == "The web"
        assert last_event() == ("user:anna", "topic.change")

    def test_saving_what_nobody_touched_changes_nothing(self, author: Client) -> None:
        topic = make_topic(description="\nTwo\r\nlines ")
        assert author.post(page(topic), filled(author, page(topic))).status_code == 302
        topic.refresh_from_db()
        assert (topic.description, topic.version) == ("\nTwo\r\nlines ", 1)

    def test_archive_and_restore_ask_first(self, author: Client) -> None:
        topic = make_topic()
        for verb, done in (("archive", True), ("restore", False)):
            assert author.get(page(topic, verb)).status_code == 200
            topic.refresh_from_db()
            assert (topic.archived_at is None) == done  # asking has done nothing
            response = author.post(page(topic, verb), {"version": topic.version}, follow=True)
            topic.refresh_from_db()
            assert (topic.archived_at is not None) == done
            assert f"is {verb}d." in response.content.decode()
            assert last_event() == ("user:anna", f"topic.{verb}")

    def test_an_archived_one_is_shown_and_not_written(self, author: Client) -> None:
        topic = make_topic(archived_at=NOW)
        body = author.get(page(topic)).content.decode()
        assert page(topic, "restore") in body
        assert page(topic, "archive") not in body
        assert author.post(page(topic), {"title": "x"}).status_code == 403

    def test_archiving_what_was_changed_meanwhile_is_refused(self, author: Client) -> None:
        topic = make_topic()
        response = author.post(page(topic, "archive"), {"version": 7}, follow=True)
        assert "Not archived: it was changed meanwhile" in response.content.decode()
        topic.refresh_from_db()
        assert topic.archived_at is None

    def test_several_at_once(self, author: Client) -> None:
        topics = [make_topic() for _ in range(3)]
        chosen = {"_selected_action": [topic.pk for topic in topics]}
        author.post(TOPICS, {"action": "archive_selected", **chosen})
        assert Topic.objects.filter(archived_at=None).count() == 0
        author.post(TOPICS, {"action": "restore_selected", **chosen})
        assert Topic.objects.filter(archived_at=None).count() == 3


class TestConcepts:
    def test_aliases_are_lines(self, author: Client) -> None:
        typed = {"title": "Nonce reuse", "aliases": "IV reuse\n\n  same nonce \n"}
        assert author.post(NEW_CONCEPT, filled(author, NEW_CONCEPT, **typed)).status_code == 302
        concept = Concept.objects.get()
        assert set(concept.names.values_list("name", flat=True)) == {"Nonce reuse", "IV reuse", "same nonce"}
        author.post(page(concept), filled(author, page(concept), aliases="same nonce"))
        assert concept.names.count() == 2
        assert last_event()[0] == "user:anna"

    def test_a_name_of_another_is_refused_with_a_link(self, author: Client) -> None:
        other, _ = create_concept(slug="nonce", title="Nonce", aliases=["IV"], actor=ACTOR, now=NOW)
        concept = make_concept()
        response = author.post(page(concept), filled(author, page(concept), aliases="iv"))
        assert "belongs to the concept" in errors(response)["aliases"][0]
        assert page(other) in response.content.decode()

    def test_a_new_slug_takes_its_entries_along(self, author: Client) -> None:
        concept = make_concept()
        entry = make_entry(concept_slug=concept.slug)
        author.post(page(concept), filled(author, page(concept), slug="renamed"))
        entry.refresh_from_db()
        assert entry.concept_slug == "renamed"

    def test_options_are_looked_up_by_title(self, author: Client) -> None:
        make_concept(title="Nonce reuse", slug="nonce-reuse")
        make_concept(title="Nonce old", slug="nonce-old", archived_at=NOW)
        found = author.get(reverse("admin:catalog_concept_options"), {"term": "nonce"}).json()
        assert [one["text"] for one in found["results"]] == ["Nonce reuse (nonce-reuse)"]
        assert found["pagination"] == {"more": False}


class TestConflict:
    def test_nothing_typed_is_lost_and_both_are_shown(self, author: Client) -> None:
        topic = make_topic(title="Web", description="About the web.")
        sent = filled(author, page(topic), title="Mine", description="My words.")
        other = Client()
        other.force_login(make_user("otto", "curriculum author"))
        other.post(page(topic), filled(other, page(topic), title="His"))
        response = author.post(page(topic), sent)
        form = response.context["adminform"].form
        assert (form["title"].value(), form["description"].value()) == ("Mine", "My words.")
        assert errors(response)["title"] == ["Stored now: His"]
        assert "description" not in errors(response)
        assert "user:otto (topic.change at" in errors(response)["__all__"][0]
        topic.refresh_from_db()
        assert topic.title == "His"
        again = {**sent, form["title"].html_initial_name: form.data[form["title"].html_initial_name]}
        assert author.post(page(topic), again).status_code == 302
        topic.refresh_from_db()
        assert (topic.title, topic.description) == ("Mine", "My words.")

    def test_what_only_the_other_changed_is_no_less_shown(self, author: Client) -> None:
        topic = make_topic(title="Web", description="Old.")
        sent = filled(author, page(topic), title="Mine")
        Topic.objects.filter(pk=topic.pk).update(description="New.")
        assert errors(author.post(page(topic), sent))["description"] == ["Stored now: New."]


class TestWhoMayNot:
    @pytest.mark.parametrize("group", ["viewer", "operator"])
    def test_write(self, client: Client, group: str) -> None:
        topic = make_topic()
        client.force_login(make_user("vera", group))
        assert client.get(page(topic)).status_code == 200
        for address in (NEW_TOPIC, page(topic), page(topic, "archive"), page(topic, "restore")):
            assert client.post(address, {"title": "x", "slug": "x"}).status_code == 403, address
        client.post(TOPICS, {"action": "archive_selected", "_selected_action": [topic.pk]})
        assert client.post(reverse("admin:catalog_topic_delete", args=[topic.pk])).status_code == 403
        topic.refresh_from_db()
        assert (topic.title, topic.archived_at) != ("x", None)
        assert topic.archived_at is None

    def test_a_forged_request_without_its_token(self) -> None:
        topic = make_topic()
        client = Client(enforce_csrf_checks=True)
        client.force_login(make_user("anna", "curriculum author"))
        for address in (page(topic), page(topic, "archive")):
            assert client.post(address, {"title": "x", "version": 1}).status_code == 403
        assert Topic.objects.get().archived_at is None
