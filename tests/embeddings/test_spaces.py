"""Spaces from the first to the switch to another, with what is written meanwhile."""

import datetime as dt

import numpy as np
import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries, Settings

from apps.catalog.models import ConceptName, ConceptVector
from apps.core.errors import Conflict, Missing
from apps.embeddings import actions, indexes, queries, registry
from apps.embeddings.embedder import Embedder
from apps.embeddings.errors import ProviderUnavailableError
from apps.embeddings.models import EmbeddingSpace
from apps.embeddings.registry import SpaceName
from apps.embeddings.sources import source
from apps.entries.models import Entry, EntryVector
from apps.rules.text import document_text, text_hash
from tests.embeddings.openai_server import Answer, OpenAIServer, Turn
from tests.factories import ACTOR, NOW, make_concept, make_entry, make_space

LATER = NOW + dt.timedelta(hours=1)
HASH = SpaceName("hash", "hash-128")
OPENAI = SpaceName("openai", "text-embedding-3-small")

pytestmark = pytest.mark.django_db


@pytest.fixture
def space(settings: Settings) -> EmbeddingSpace:
    settings.LODE_EMBEDDING_PROVIDER = "hash"
    return actions.ensure_serving_space(actor=ACTOR, now=NOW)


def make_indexes(space: EmbeddingSpace) -> None:
    """Index the space inside the test's transaction, whose foreign keys must be checked before."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    indexes.create(space, concurrently=False)


def sweep(now: dt.datetime = NOW) -> None:
    actions.sweep(now=now, is_over=lambda: False)


class TestFirstSpace:
    def test_is_the_settings_and_serves_with_valid_indexes(self, space: EmbeddingSpace) -> None:
        assert (space.name, space.dimensions, space.state) == ("hash/hash-128", 128, "serving")
        assert space.served_at == NOW
        wanted = {index.name: indexes.state_of(index) for index in indexes.indexes_of(space)}
        assert set(wanted) == {
            f"entryvector_hnsw_tutor_{space.pk}",
            f"entryvector_hnsw_public_{space.pk}",
            f"conceptvector_hnsw_{space.pk}",
        }
        assert set(wanted.values()) == {indexes.IndexState.VALID}

    def test_is_made_once(self, space: EmbeddingSpace, settings: Settings) -> None:
        settings.LODE_EMBEDDING_PROVIDER = "local"
        queries.forget_serving_space()
        assert actions.ensure_serving_space(actor=ACTOR, now=LATER) == space
        assert EmbeddingSpace.objects.count() == 1

    def test_is_known_without_a_query_once_read(
        self, space: EmbeddingSpace, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        queries.forget_serving_space()
        assert queries.serving_space() == space
        with django_assert_num_queries(0):
            assert queries.serving_space() == space


class TestSweep:
    def test_gives_every_row_and_name_its_vectors(self, space: EmbeddingSpace) -> None:
        entry = make_entry(title="Nonce", instruction="Use a nonce once.", detail="Reuse breaks it.")
        concept = make_concept(title="Nonce reuse")
        sweep()
        vector = EntryVector.objects.get(entry=entry)
        wanted = registry.get_provider("hash").embed(
            [document_text("Nonce", "Use a nonce once.", "Reuse breaks it.")]
        )
        assert np.allclose(np.asarray(list(vector.embedding)), wanted[0], atol=1e-6)
        assert (vector.text_hash, vector.visibility_scope, vector.chunk) == (entry.text_hash, "public", 0)
        assert ConceptVector.objects.get(concept_name__concept=concept).text_hash == text_hash("Nonce reuse")
        assert queries.missing_counts(space) == {"entries": 0, "concept-names": 0}

    def test_leaves_out_what_is_no_row(self, space: EmbeddingSpace) -> None:
        make_entry(maturity="archived")
        make_entry(superseded_at=NOW)
        sweep()
        assert not EntryVector.objects.exists()

    def test_gives_a_long_text_a_vector_for_each_chunk_and_loses_nothing(self, space: EmbeddingSpace) -> None:
        entry = make_entry(instruction="A sentence of some length stands here. " * 200)
        sweep()
        assert list(
            EntryVector.objects.filter(entry=entry).order_by("chunk").values_list("chunk", flat=True)
        ) == [
            0,
            1,
            2,
            3,
        ]

    def test_renews_a_changed_text_and_drops_chunks_it_no_longer_has(self, space: EmbeddingSpace) -> None:
        entry = make_entry(instruction="A sentence of some length stands here. " * 200)
        sweep()
        Entry.objects.filter(pk=entry.pk).update(instruction="Short now.")
        assert queries.missing_counts(space)["entries"] == 1
        sweep(LATER)
        entry.refresh_from_db()
        vector = EntryVector.objects.get(entry=entry)
        assert (vector.chunk, vector.text_hash, vector.created_at) == (0, entry.text_hash, LATER)

    def test_touches_no_vector_that_is_current(self, space: EmbeddingSpace) -> None:
        make_entry()
        sweep()
        before = list(EntryVector.objects.values_list("pk", flat=True))
        sweep(LATER)
        assert list(EntryVector.objects.values_list("pk", flat=True)) == before

    def test_stops_where_it_is_told_to(self, space: EmbeddingSpace) -> None:
        make_entry()
        actions.sweep(now=NOW, is_over=lambda: True)
        assert not EntryVector.objects.exists()


class TestStoring:
    """A vector is stored for the text that it was made of, or not at all."""

    def test_a_text_that_changed_meanwhile_stays_missing(self, space: EmbeddingSpace) -> None:
        entry = make_entry()
        [text] = source("entries").read(space, [entry.pk])
        Entry.objects.filter(pk=entry.pk).update(title="Changed meanwhile")
        assert Embedder(space, now=NOW).embed(source("entries"), [text]) == 0
        assert queries.missing_counts(space)["entries"] == 1

    def test_an_owner_that_went_meanwhile_is_left_out(self, space: EmbeddingSpace) -> None:
        concept = make_concept()
        texts = source("concept-names").read(space, [concept.names.get().pk])
        concept.delete()
        assert Embedder(space, now=NOW).embed(source("concept-names"), texts) == 0


class TestWithServer:
    """What reaches a provider over the network."""

    @pytest.fixture
    def space(self, openai_settings: Settings) -> EmbeddingSpace:
        return make_space(provider="openai", model="text-embedding-3-small", dimensions=12)

    @staticmethod
    def asked(server: OpenAIServer) -> list[str]:
        return [text for request in server.requests for text in request["input"]]

    def test_an_identical_text_is_embedded_once_a_space(
        self, space: EmbeddingSpace, openai_server: OpenAIServer
    ) -> None:
        same = {"title": "T", "instruction": "The same words."}
        made = [make_entry(visibility_scope="tutor", **same) for _ in range(3)]
        sweep()
        make_entry(visibility_scope="tutor", **same)
        sweep()
        assert self.asked(openai_server) == ["T\nThe same words.\n"]
        assert EntryVector.objects.filter(text_hash=made[0].text_hash).count() == 4

    def test_batches_are_as_the_dial_says(self, space: EmbeddingSpace, openai_server: OpenAIServer) -> None:
        for number in range(70):
            make_entry(visibility_scope="tutor", concept_slug=f"move-{number}")
        sweep()
        assert [len(request["input"]) for request in openai_server.requests] == [64, 6]

    def test_one_refused_text_keeps_no_other_from_its_vector(
        self, space: EmbeddingSpace, openai_server: OpenAIServer
    ) -> None:
        def poison(answer: Answer) -> Answer:
            for item, text in zip(answer["data"], openai_server.requests[-1]["input"], strict=True):
                if "poison" in text:
                    item["embedding"] = [0.0] * 12
            return answer

        openai_server.ever = Turn(change=poison)
        fine = [make_entry(visibility_scope="tutor") for _ in range(3)]
        bad = make_entry(visibility_scope="tutor", title="poison")
        embedder = Embedder(space, now=NOW)
        entries = source("entries")
        assert embedder.embed(entries, entries.read(space, [bad.pk, *(entry.pk for entry in fine)])) == 3
        assert EntryVector.objects.filter(entry__in=fine).count() == 3
        assert list(embedder.outcome.refused) == [("entries", bad.pk)]
        assert (
            "openai/text-embedding-3-small: the vector of text 1 has norm 0"
            in embedder.outcome.refused["entries", bad.pk]
        )

    def test_an_outage_ends_the_run_and_keeps_what_was_committed(
        self, space: EmbeddingSpace, openai_server: OpenAIServer
    ) -> None:
        for number in range(70):
            make_entry(visibility_scope="tutor", concept_slug=f"move-{number}")
        openai_server.answers(Turn())
        openai_server.ever = Turn(status=500, headers={"retry-after-ms": "1"})
        with pytest.raises(ProviderUnavailableError):
            sweep()
        assert EntryVector.objects.count() == 64
        openai_server.ever = Turn()
        sweep(LATER)
        assert EntryVector.objects.count() == 70
        assert EntryVector.objects.filter(created_at=NOW).count() == 64


class TestSwitch:
    @pytest.fixture
    def old(self, space: EmbeddingSpace) -> EmbeddingSpace:
        make_entry()
        sweep()
        return space

    @pytest.fixture
    def new(self, old: EmbeddingSpace, openai_settings: Settings) -> EmbeddingSpace:
        return actions.begin_building(name=OPENAI, actor=ACTOR, now=NOW)

    def test_is_refused_with_the_count_until_nothing_is_missing(
        self, old: EmbeddingSpace, new: EmbeddingSpace, openai_server: OpenAIServer
    ) -> None:
        with pytest.raises(
            Conflict, match=r"1 concept-names and 1 entries lack a current vector in openai/"
        ) as refused:
            actions.switch(name=OPENAI, actor=ACTOR, now=LATER)
        assert refused.value.code == "space_incomplete"
        assert refused.value.extra == {"missing": {"entries": 1, "concept-names": 1}}
        assert openai_server.requests == []

    def test_lets_the_new_space_serve_and_embeds_nothing(
        self, old: EmbeddingSpace, new: EmbeddingSpace, openai_server: OpenAIServer
    ) -> None:
        sweep()
        make_indexes(new)
        asked = len(openai_server.requests)
        assert queries.serving_space() == old
        actions.switch(name=OPENAI, actor=ACTOR, now=LATER)
        assert queries.serving_space() == new
        assert len(openai_server.requests) == asked
        states = dict(EmbeddingSpace.objects.values_list("provider", "state"))
        assert states == {"hash": "retired", "openai": "serving"}

    def test_is_refused_without_the_spaces_indexes(self, old: EmbeddingSpace, new: EmbeddingSpace) -> None:
        sweep()
        with pytest.raises(
            Conflict, match=r"lacks conceptvector_hnsw_.*, entryvector_hnsw_tutor_"
        ) as refused:
            actions.switch(name=OPENAI, actor=ACTOR, now=LATER)
        assert refused.value.code == "space_index_missing"

    def test_a_write_is_embedded_in_both_spaces(self, old: EmbeddingSpace, new: EmbeddingSpace) -> None:
        entry = make_entry()
        actions.embed_written(texts={"entries": [str(entry.pk)]}, now=NOW)
        assert set(EntryVector.objects.filter(entry=entry).values_list("space", flat=True)) == {
            old.pk,
            new.pk,
        }

    def test_a_retired_space_is_written_no_more_and_may_be_built_again(
        self, old: EmbeddingSpace, new: EmbeddingSpace
    ) -> None:
        sweep()
        make_indexes(new)
        actions.switch(name=OPENAI, actor=ACTOR, now=LATER)
        entry = make_entry()
        sweep()
        assert list(EntryVector.objects.filter(entry=entry).values_list("space", flat=True)) == [new.pk]
        with pytest.raises(Conflict, match="1 concept-names and 1 entries"):
            actions.switch(name=HASH, actor=ACTOR, now=LATER)
        assert actions.begin_building(name=HASH, actor=ACTOR, now=LATER).state == "building"
        sweep()
        assert actions.switch(name=HASH, actor=ACTOR, now=LATER) == old

    def test_to_the_serving_space_changes_nothing(self, old: EmbeddingSpace) -> None:
        make_entry()
        assert actions.switch(name=HASH, actor=ACTOR, now=LATER).served_at == NOW

    def test_to_an_unknown_space_names_those_there_are(self, old: EmbeddingSpace) -> None:
        with pytest.raises(Missing, match=r"there is no such space \(spaces: hash/hash-128@128\)"):
            actions.switch(name=SpaceName("local", "none"), actor=ACTOR, now=LATER)

    def test_a_name_of_two_lengths_is_asked_for(self, old: EmbeddingSpace) -> None:
        make_space(provider="openai", model="m", dimensions=8, state="building")
        make_space(provider="openai", model="m", dimensions=16, state="building")
        with pytest.raises(Missing, match="add @DIMENSIONS"):
            queries.find_space(SpaceName("openai", "m"))
        assert queries.find_space(SpaceName("openai", "m", 16)).dimensions == 16


def test_names_of_all_concepts_count(space: EmbeddingSpace) -> None:
    concept = make_concept(title="Nonce", archived_at=NOW)
    ConceptName.objects.create(concept=concept, slug="number-used-once", name="number used once")
    sweep()
    assert set(ConceptVector.objects.values_list("concept_name__name", flat=True)) == {
        "Nonce",
        "number used once",
    }


def test_a_space_too_long_for_an_index_has_none() -> None:
    space = make_space(provider="openai", model="long", dimensions=4096)
    assert indexes.indexes_of(space) == []
