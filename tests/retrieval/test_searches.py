"""Searches outside a turn: ``match`` and ``match-concepts``."""

from typing import Any

import pytest

from apps.catalog.models import ConceptName
from apps.embeddings import registry
from apps.embeddings.errors import ProviderUnavailableError
from apps.embeddings.models import EmbeddingSpace
from tests.api import Caller, problem
from tests.factories import NOW, make_concept, make_entry, make_topic
from tests.retrieval.world import embed, make_fact, make_pattern, said, set_dials

X = [1.0, *[0.0] * 127]


def towards(cosine: float, axis: int = 1) -> list[float]:
    """A unit vector at that cosine to X."""
    vector = [cosine, *[0.0] * 127]
    vector[axis] = (1 - cosine * cosine) ** 0.5
    return vector


def find(call: Caller, address: str = "match", **body: Any) -> list[str]:
    return [row["entry"] for row in said(call.post(f"/api/v1/{address}", body))["results"]]


def test_any_scopes_are_searched_together(space: EmbeddingSpace, call: Caller) -> None:
    scopes = {"public": 0.9, "tutor": 0.8, "visual": 0.7, "student:amy": 0.6, "student:ben": 0.5}
    make_pattern(space, "amy"), make_pattern(space, "ben")
    made = {
        scope: embed(make_entry(visibility_scope=scope), space, towards(cosine))
        for scope, cosine in scopes.items()
    }
    assert find(call, vector=X, scopes=list(scopes), limit=3) == [
        str(made[scope].pk) for scope in ("public", "tutor", "visual")
    ]
    assert find(call, vector=X) == [str(made["public"].pk)]
    assert find(call, vector=X, scopes=["student:ben"])[0] == str(made["student:ben"].pk)
    assert find(Caller(learner_prefix="b"), vector=X, scopes=["student:amy"]) == []


@pytest.mark.parametrize("exact_scan_max_rows", [0, 2000])
def test_boosts_rank_and_the_scale_of_a_vector_does_not(
    space: EmbeddingSpace, call: Caller, exact_scan_max_rows: int
) -> None:
    set_dials(exact_scan_max_rows=exact_scan_max_rows)
    near = embed(make_entry(maturity="candidate"), space, towards(0.80))
    lifted = embed(make_entry(maturity="proven"), space, towards(0.75))
    away = embed(make_entry(maturity="candidate"), space, towards(-0.1))
    further = embed(make_entry(maturity="proven"), space, towards(-0.1))
    expected = [str(row.pk) for row in (lifted, near, away, further)]  # a boost takes a negative cosine down
    for scale in (1e-300, 1.0, 1e300):
        assert find(call, vector=[scale, *[0.0] * 127]) == expected


@pytest.mark.parametrize("exact_scan_max_rows", [0, 2000])
def test_an_entry_is_as_near_as_its_nearest_chunk_and_counts_once(
    space: EmbeddingSpace, call: Caller, exact_scan_max_rows: int
) -> None:
    set_dials(exact_scan_max_rows=exact_scan_max_rows)
    long = embed(make_entry(), space, *[towards(cosine) for cosine in (0.1, 0.95, 0.9, 0.85)])
    short = embed(make_entry(), space, towards(0.5))
    assert find(call, vector=X, limit=2) == [str(long.pk), str(short.pk)]


def test_a_topic_narrows_every_scope(space: EmbeddingSpace, call: Caller) -> None:
    topic = make_topic()
    fact, move = make_fact(space, topic=topic), make_fact(space, topic=topic, visibility_scope="tutor")
    make_fact(space), make_fact(space, visibility_scope="tutor")
    found = find(call, text="anything", topic=topic.slug, scopes=["public", "tutor"])
    assert set(found) == {str(fact.pk), str(move.pk)}


def test_a_bound_key_finds_public_rows_of_its_topics_and_every_move(space: EmbeddingSpace) -> None:
    topic = make_topic()
    fact, move = make_fact(space, topic=topic), make_fact(space, visibility_scope="tutor", topic=make_topic())
    other = make_fact(space)
    call = Caller(topics=[topic.slug])
    scopes = ["public", "tutor"]
    assert set(find(call, text="anything", scopes=scopes)) == {str(fact.pk), str(move.pk)}
    names = [fact.concept_slug, move.concept_slug, other.concept_slug]
    assert set(find(call, "match-concepts", concepts=names, scopes=scopes)) == {str(fact.pk), str(move.pk)}
    for address, what in (("match", {"text": "x"}), ("match-concepts", {"concepts": ["x"]})):
        hidden = call.post(f"/api/v1/{address}", {**what, "topic": other.topic.slug})  # type: ignore[union-attr]
        problem(hidden, 404, "not_found", "/topic")


def test_floors_hold(space: EmbeddingSpace, call: Caller) -> None:
    kept = [
        make_fact(space, maturity=maturity, confidence=confidence)
        for maturity, confidence in [("proven", "0.4"), ("pattern", "0.4"), ("candidate", "0.7")]
    ]
    for maturity, confidence in [("proven", "0.399999"), ("pattern", "0.399999"), ("candidate", "0.699999")]:
        make_fact(space, maturity=maturity, confidence=confidence)
    make_fact(space, maturity="archived"), make_fact(space, superseded_at=NOW)
    assert set(find(call, text="anything", limit=50)) == {str(row.pk) for row in kept}
    assert len(find(call, text="anything", limit=50, min_confidence=0.3)) == 4  # the proven floor is 0.30
    assert len(find(call, text="anything", limit=50, min_confidence=0.71)) == 0


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({}, "one_of_two", ""),
        ({"text": "x", "vector": X}, "one_of_two", ""),
        ({"vector": [1.0]}, "wrong_length", "/vector"),
        ({"vector": [0.0] * 128}, "zero_vector", "/vector"),
        ({"vector": [*X[1:], "1"]}, "invalid", "/vector/127"),
        ({"text": "x", "scopes": []}, "too_short", "/scopes"),
        ({"text": "x", "scopes": ["student:"]}, "invalid_scope", "/scopes/0"),
        ({"text": "x", "limit": 51}, "out_of_range", "/limit"),
    ],
)
def test_what_a_search_may_not_be(
    space: EmbeddingSpace, call: Caller, body: dict[str, Any], code: str, pointer: str
) -> None:
    problem(call.post("/api/v1/match", body), 422, code, pointer)


def test_a_search_by_text_needs_its_provider(
    space: EmbeddingSpace, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ProviderUnavailableError("it is down")

    monkeypatch.setattr(registry.get_provider(space), "embed", fail)
    problem(call.post("/api/v1/match", {"text": "x"}), 503, "embedding_unavailable")
    assert find(call, vector=X) == []


def test_without_a_space_nothing_is_searched_by_meaning(call: Caller) -> None:
    problem(call.post("/api/v1/match", {"text": "x"}), 503, "embedding_unavailable")


def test_concepts_are_found_by_slug_alias_and_own_name(call: Caller) -> None:
    concept = make_concept(slug="nonce-reuse")
    ConceptName.objects.create(concept=concept, slug="iv-reuse", name="IV reuse")
    fact = make_entry(concept_slug="nonce-reuse", confidence="0.9")
    move = make_entry(visibility_scope="tutor", concept_slug="ask-why", maturity="proven", confidence="0.9")
    make_entry(concept_slug="_unanchored_"), make_entry(visibility_scope="tutor", concept_slug="_unanchored_")
    body = {"concepts": ["iv-reuse", "ask-why", "nowhere", "_unanchored_"], "scopes": ["public", "tutor"]}
    answer = said(call.post("/api/v1/match-concepts", body))
    assert [row["entry"] for row in answer["results"]] == [str(move.pk), str(fact.pk)]
    assert answer["ignored"] == ["nowhere", "_unanchored_"]
    assert said(call.post("/api/v1/match-concepts", {**body, "limit": 1}))["ignored"] == answer["ignored"]
    assert {row["band"] for row in answer["results"]} == {"named"}
    assert {row["similarity"] for row in answer["results"]} == {None}


def test_named_rows_are_ordered_by_boost_and_confidence_then_by_last_use(call: Caller) -> None:
    slug = make_concept().slug
    rows = [
        make_entry(concept_slug=slug, maturity="candidate", confidence="0.88"),
        make_entry(concept_slug=slug, maturity="proven", confidence="0.8", last_matched_at=NOW),
        make_entry(concept_slug=slug, maturity="proven", confidence="0.8"),
        make_entry(concept_slug=slug, maturity="candidate", confidence="0.9"),
    ]
    found = find(call, "match-concepts", concepts=[slug])
    # 1.1 x 0.8 is a hair above 1.0 x 0.88 in binary, and exactly it in the rules' words: then the id decides.
    assert found == [str(rows[place].pk) for place in (3, 1, 0, 2)]
