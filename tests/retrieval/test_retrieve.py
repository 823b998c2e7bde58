"""``POST retrieve``: what a turn gets, silent inputs included."""

import json
import uuid
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from apps.catalog.models import ConceptName
from apps.core.database import fetch_prepared
from apps.dials.queries import get_dials
from apps.embeddings import registry
from apps.embeddings.errors import ProviderUnavailableError
from apps.embeddings.models import EmbeddingSpace
from apps.tutoring.models import Learner, Retrieval, Turn
from tests.api import Caller, problem
from tests.factories import NOW, make_concept, make_edge, make_entry, make_learner, make_session, make_topic
from tests.retrieval.world import make_fact, make_pattern, said, set_dials

ADDRESS = "/api/v1/retrieve"
NOBODY = "00000000-0000-7000-8000-000000000000"


def ask(call: Caller, **body: Any) -> Any:
    return said(call.post(ADDRESS, {"message": "why does reusing a nonce break it?", **body}))


def entries(block: list[dict[str, Any]]) -> list[str]:
    return [row["entry"] for row in block]


def test_a_turn_gets_its_three_blocks_prompt_and_edges(space: EmbeddingSpace, call: Caller) -> None:
    topic = make_topic(slug="cryptography", title="Cryptography")
    near = make_fact(space, topic=topic, title="Nonce reuse", instruction="Reusing a nonce breaks it.")
    base = make_fact(space, topic=topic, title="XOR", instruction="XOR undoes itself.", confidence="0.5")
    edge = make_edge(source=near, target=base, edge_type="prerequisite")
    move = make_fact(space, visibility_scope="tutor", title="Ask why", instruction="Ask why it breaks.")
    pattern = make_pattern(space, "amy", title="Mixes up", instruction="Mixes up nonce and key.")

    answer = ask(call, topic="cryptography", learner="amy", level="beginner", focus="stream ciphers")

    assert answer["space"] == "hash/hash-128"
    assert answer["context_text"] == (
        "topic:Cryptography level:beginner focus:stream ciphers student:why does reusing a nonce break it?"
    )
    assert entries(answer["topic_memory"]) == [str(near.pk)]  # the other stands below its floor
    assert entries(answer["tutor_memory"]) == [str(move.pk)]
    assert entries(answer["student_patterns"]) == [str(pattern.pk)]
    (first,) = answer["topic_memory"]
    assert [step["edge"] for step in first["edges"]] == [edge.pk]
    assert first["edges"][0]["target_instruction"] == "XOR undoes itself."
    assert answer["rendered_edges"] == [edge.pk]
    assert "  prereq:   XOR undoes itself." in answer["prompt"]
    assert answer["decision_tree"] in answer["prompt"]
    assert (answer["degraded"], answer["ignored"]) == ([], [])
    assert set(answer["timings_ms"]) == {"embed", "database", "total"}


def test_scores_are_exact_and_explained(space: EmbeddingSpace, call: Caller) -> None:
    concept = make_concept(slug="nonce")
    entry = make_fact(space, concept_slug="nonce", maturity="proven", confidence=Decimal("0.9"))
    answer = ask(
        call, topic=entry.topic.slug if entry.topic else "", expected_concepts=[concept.slug], explain=True
    )
    (row,) = answer["topic_memory"]
    assert row["found_by"] == ["semantic", "concept"]
    assert row["expected"] is True
    assert row["factors"] == {
        "similarity": 1.0,
        "confidence": 0.9,
        "maturity_boost": 1.1,
        "concept_bonus": 1.3,
    }
    assert row["score"] == 1.0 * 0.9 * 1.1 * 1.3
    assert 0 < row["similarity"] < 1
    assert row["decision_score"] == pytest.approx(0.9 * row["similarity"])


def test_without_explain_there_are_no_factors(space: EmbeddingSpace, call: Caller) -> None:
    entry = make_fact(space, maturity="pattern")
    (row,) = ask(call, topic=entry.topic.slug)["topic_memory"]  # type: ignore[union-attr]  # it has one
    assert "factors" not in row


def test_what_was_written_just_now_is_found_by_its_name(space: EmbeddingSpace, call: Caller) -> None:
    entry = make_entry(concept_slug=make_concept(slug="nonce").slug)
    slug = entry.topic.slug if entry.topic else ""
    assert ask(call, topic=slug)["topic_memory"] == []
    (row,) = ask(call, topic=slug, expected_concepts=["nonce"])["topic_memory"]
    assert (row["similarity"], row["decision_score"], row["band"]) == (None, None, "named")


def test_a_vector_of_an_older_text_counts_as_absent(space: EmbeddingSpace, call: Caller) -> None:
    entry = make_fact(space)
    type(entry).objects.filter(pk=entry.pk).update(instruction="It says something else now.")
    assert ask(call, topic=entry.topic.slug)["topic_memory"] == []  # type: ignore[union-attr]  # it has one


def test_an_alias_becomes_its_slug_and_an_unknown_name_is_told(space: EmbeddingSpace, call: Caller) -> None:
    concept = make_concept(slug="nonce-reuse")
    ConceptName.objects.create(concept=concept, slug="iv-reuse", name="IV reuse")
    make_concept(slug="retired", archived_at=NOW)
    topic = make_topic()
    names = ["iv-reuse", "nonce-reuse", "nowhere", "retired", "_unanchored_", "No Slug", "nowhere"]
    answer = ask(call, topic=topic.slug, expected_concepts=names)
    assert answer["expected_concepts"] == ["nonce-reuse"]
    assert answer["ignored"] == ["nowhere", "retired", "_unanchored_", "No Slug"]


def test_a_session_gives_topic_learner_level_and_concepts(space: EmbeddingSpace, call: Caller) -> None:
    concept = make_concept(slug="nonce")
    session = make_session(level="advanced")
    fact = make_fact(space, topic=session.topic, concept_slug="nonce")
    taught = make_fact(space, topic=session.topic)
    make_fact(space, visibility_scope=f"student:{session.learner.external_id}", title="Mixes up")
    Turn.objects.create(
        session=session, number=1, student_message="?", concepts=["nonce", "no-concept"], created_at=NOW
    )
    Turn.objects.create(
        session=session, number=2, student_message="?", taught_entry=taught.pk, created_at=NOW
    )

    answer = ask(call, session=str(session.pk))

    assert f"topic:{session.topic.title} level:advanced focus:none" in answer["context_text"]
    assert answer["expected_concepts"] == [taught.concept_slug, concept.slug]
    assert answer["ignored"] == []  # nobody named them
    assert set(entries(answer["topic_memory"])) == {str(fact.pk), str(taught.pk)}
    assert len(answer["student_patterns"]) == 1
    assert ask(call, session=str(session.pk), expected_concepts=[])["expected_concepts"] == []


def test_only_the_last_turns_are_looked_at(space: EmbeddingSpace, call: Caller) -> None:
    session = make_session()
    slugs = [make_concept().slug for _ in range(5)]
    for number, slug in enumerate(slugs, start=1):
        Turn.objects.create(
            session=session, number=number, student_message="?", concepts=[slug], created_at=NOW
        )
    assert ask(call, session=str(session.pk))["expected_concepts"] == [slugs[4], slugs[3], slugs[2]]


def test_topic_and_learner_must_agree_with_the_session(space: EmbeddingSpace, call: Caller) -> None:
    session, other = make_session(), make_topic()
    body = {"message": "?", "session": str(session.pk)}
    assert call.post(ADDRESS, {**body, "topic": session.topic.slug}).status_code == 200
    problem(call.post(ADDRESS, {**body, "topic": other.slug}), 422, "session_mismatch", "/topic")
    problem(call.post(ADDRESS, {**body, "learner": "someone-else"}), 422, "session_mismatch", "/learner")
    problem(call.post(ADDRESS, {**body, "topic": "nowhere"}), 404, "not_found", "/topic")


def test_an_unknown_learner_has_no_patterns_and_is_not_made(space: EmbeddingSpace, call: Caller) -> None:
    answer = ask(call, topic=make_topic().slug, learner="nobody")
    assert answer["student_patterns"] == []
    assert not Learner.objects.exists()
    assert Retrieval.objects.get(pk=answer["retrieval"]).learner == "nobody"


def test_a_learner_gets_no_patterns_of_another_with_a_longer_name(
    space: EmbeddingSpace, call: Caller
) -> None:
    own, _ = make_pattern(space, "amy1"), make_pattern(space, "amy10")
    assert entries(ask(call, topic=make_topic().slug, learner="amy1")["student_patterns"]) == [str(own.pk)]


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({"message": "?"}, "required", "/topic"),
        ({"topic": "x"}, "required", "/message"),
        ({"message": "\u200b", "topic": "x"}, "blank", "/message"),
        ({"message": "?", "topic": "Not A Slug"}, "invalid_slug", "/topic"),
        ({"message": "?", "topic": "x", "session": "x"}, "invalid", "/session"),
        ({"message": "?", "topic": "x", "learner": "-x"}, "invalid_learner", "/learner"),
        ({"message": "?", "topic": "x", "top_k": 0}, "out_of_range", "/top_k"),
        ({"message": "?", "topic": "x", "top_k": 51}, "out_of_range", "/top_k"),
        ({"message": "?", "topic": "x", "top_k": True}, "invalid", "/top_k"),
        ({"message": "?", "topic": "x", "min_confidence": 1.1}, "out_of_range", "/min_confidence"),
        ({"message": "?", "topic": "x", "expected_concepts": ["x"] * 51}, "too_long", "/expected_concepts"),
        ({"message": "?", "topic": "x", "expected_concepts": [1]}, "invalid", "/expected_concepts/0"),
        ({"message": "?", "topic": "x", "mesage": "?"}, "unknown_field", "/mesage"),
    ],
)
def test_what_a_question_may_not_be(call: Caller, body: dict[str, Any], code: str, pointer: str) -> None:
    problem(call.post(ADDRESS, body), 422, code, pointer)
    assert not Retrieval.objects.exists()


def test_a_body_that_cannot_be_read_is_said_to_those_who_may_ask(call: Caller) -> None:
    problem(call.post(ADDRESS, raw=b"{"), 400, "malformed_json")
    problem(Caller(key="").post(ADDRESS, raw=b"{"), 401, "not_authenticated")
    problem(Caller(scopes=["write"]).post(ADDRESS, raw=b"{"), 403, "scope_required")
    problem(call.post(ADDRESS, raw=b"[1]"), 400, "object_expected")
    problem(call.post(ADDRESS, {"message": "?", "topic": ["x"], "session": 1}), 422, "invalid", "/topic")


@pytest.mark.parametrize("body", [{"topic": "nowhere"}, {"session": NOBODY}])
def test_what_is_not_there_is_404(call: Caller, body: dict[str, Any]) -> None:
    problem(call.post(ADDRESS, {"message": "?", **body}), 404, "not_found", f"/{next(iter(body))}")


def test_an_archived_topic_is_404(call: Caller) -> None:
    topic = make_topic(archived_at=NOW)
    problem(call.post(ADDRESS, {"message": "?", "topic": topic.slug}), 404, "not_found")


def test_a_bound_key_sees_foreign_things_as_absent_ones(space: EmbeddingSpace) -> None:
    mine, other = make_topic(), make_topic()
    call = Caller(topics=[mine.slug], learner_prefix="a-")
    make_pattern(space, "b-ben")
    foreign = make_session(topic=mine, learner=Learner.objects.get(external_id="b-ben"))
    absent = json.loads(call.post(ADDRESS, {"message": "?", "topic": "nowhere"}).content)
    hidden = json.loads(call.post(ADDRESS, {"message": "?", "topic": other.slug}).content)
    assert {**absent, "request_id": 0} == {**hidden, "request_id": 0}
    absent = json.loads(call.post(ADDRESS, {"message": "?", "session": NOBODY}).content)
    hidden = json.loads(call.post(ADDRESS, {"message": "?", "session": str(foreign.pk)}).content)
    assert {**absent, "request_id": 0} == {**hidden, "request_id": 0}
    assert ask(call, topic=mine.slug, learner="b-ben")["student_patterns"] == []


def test_the_walk_goes_where_the_caller_may_see(space: EmbeddingSpace) -> None:
    mine, other = make_topic(), make_topic()
    start = make_fact(space, topic=mine)
    targets = {
        "own topic": make_entry(topic=mine, confidence="0.1"),
        "foreign topic": make_entry(topic=other),
        "tutor": make_entry(visibility_scope="tutor"),
        "visual": make_entry(visibility_scope="visual"),
        "other learner": make_entry(visibility_scope=f"student:{make_learner('ben').external_id}"),
        "own": make_entry(visibility_scope=f"student:{make_learner('amy').external_id}"),
        "archived": make_entry(topic=mine, maturity="archived"),
        "superseded": make_entry(topic=mine, superseded_at=NOW),
        "weak": make_entry(topic=mine),
    }
    kinds = dict(
        zip(targets, ["prerequisite", "prerequisite", "fallback", "fallback", "leads_to"] * 2, strict=False)
    )
    for name, target in targets.items():
        confidence = "0.299999" if name == "weak" else "0.300000"
        make_edge(source=start, target=target, edge_type=kinds[name], confidence=confidence)
    (row,) = ask(Caller(topics=[mine.slug]), topic=mine.slug, learner="amy")["topic_memory"]
    reached = [step["target"] for step in row["edges"]]
    assert reached == [str(targets[name].pk) for name in ("own topic", "own", "tutor")]


def test_a_walk_takes_few_edges_of_a_type_in_the_order_of_types(space: EmbeddingSpace, call: Caller) -> None:
    start = make_fact(space)
    for kind in ("supersedes", "related", "leads_to", "fallback", "prerequisite"):
        for confidence in ("0.4", "0.9", "0.6"):
            target = make_entry(topic=start.topic, confidence="0.1")
            make_edge(source=start, target=target, edge_type=kind, confidence=Decimal(confidence))
    (row,) = ask(call, topic=start.topic.slug)["topic_memory"]  # type: ignore[union-attr]  # it has one
    taken = [(step["type"], step["confidence"]) for step in row["edges"]]
    kinds = ("prerequisite", "fallback", "leads_to", "related")
    assert taken == [(kind, confidence) for kind in kinds for confidence in (0.9, 0.6)]


def test_candidates_may_be_left_out_of_the_walk(space: EmbeddingSpace, call: Caller) -> None:
    start = make_fact(space)
    make_edge(source=start, target=make_entry(topic=start.topic, confidence="0.1"))
    proven = make_entry(topic=start.topic, confidence="0.1", maturity="proven")
    make_edge(source=start, target=proven)
    set_dials(edge_include_candidate_targets=False)
    (row,) = ask(call, topic=start.topic.slug)["topic_memory"]  # type: ignore[union-attr]  # it has one
    assert [step["target"] for step in row["edges"]] == [str(proven.pk)]


def test_a_failing_provider_leaves_what_is_found_by_name(
    space: EmbeddingSpace, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ProviderUnavailableError("it is down")

    entry = make_fact(space, concept_slug=make_concept(slug="nonce").slug)
    make_fact(space, topic=entry.topic)
    make_fact(space, visibility_scope="tutor")
    monkeypatch.setattr(registry.get_provider(space), "embed", fail)
    answer = ask(call, topic=entry.topic.slug, expected_concepts=["nonce"])  # type: ignore[union-attr]  # it has one
    assert answer["degraded"] == ["semantic"]
    assert entries(answer["topic_memory"]) == [str(entry.pk)]
    assert answer["topic_memory"][0]["similarity"] is None
    assert answer["tutor_memory"] == []


def test_before_any_space_serves_names_are_found(call: Caller) -> None:
    entry = make_entry(concept_slug=make_concept(slug="nonce").slug)
    answer = ask(call, topic=entry.topic.slug, expected_concepts=["nonce"])  # type: ignore[union-attr]  # it has one
    assert (answer["space"], answer["degraded"]) == (None, ["semantic"])
    assert entries(answer["topic_memory"]) == [str(entry.pk)]


def test_a_read_writes_its_log_row_and_nothing_else(space: EmbeddingSpace, call: Caller) -> None:
    entry = make_fact(space)
    before = type(entry).objects.values().get(pk=entry.pk)
    answer = ask(call, topic=entry.topic.slug, learner="amy", min_confidence=0.2)  # type: ignore[union-attr]  # it has one
    logged = Retrieval.objects.get()
    assert str(logged.pk) == answer["retrieval"]
    assert logged.response == answer
    assert logged.request == {
        "message": "why does reusing a nonce break it?",
        "topic": entry.topic.slug,  # type: ignore[union-attr]  # it has one
        "learner": "amy",
        "min_confidence": 0.2,
        "explain": False,
    }
    assert logged.matched_entries == logged.rendered_entries == [entry.pk]
    assert logged.tallied_at is None
    assert type(entry).objects.values().get(pk=entry.pk) == before


def test_a_past_retrieval_is_read_as_it_was_answered(space: EmbeddingSpace, call: Caller) -> None:
    topic = make_topic()
    answer = ask(call, topic=topic.slug, learner="amy")
    address = f"/api/v1/retrievals/{answer['retrieval']}"
    assert said(call.get(address)) == answer
    assert said(Caller(topics=[topic.slug], learner_prefix="a").get(address)) == answer
    for stranger in (Caller(topics=["elsewhere"]), Caller(learner_prefix="b")):
        problem(stranger.get(address), 404, "not_found")
    problem(call.get(f"/api/v1/retrievals/{uuid.uuid4()}"), 404, "not_found")


def test_a_past_retrieval_shows_no_topic_that_the_key_does_not_see(
    space: EmbeddingSpace, call: Caller
) -> None:
    source, target = make_fact(space), make_fact(space)
    make_edge(source=source, target=target)
    names = [entry.topic.slug for entry in (source, target) if entry.topic]
    answer = ask(call, topic=names[0])
    assert [edge["target"] for edge in answer["topic_memory"][0]["edges"]] == [str(target.pk)]
    address = f"/api/v1/retrievals/{answer['retrieval']}"
    problem(Caller(topics=names[:1]).get(address), 404, "not_found")
    assert said(Caller(topics=names).get(address)) == answer


def test_a_question_takes_three_round_trips(
    space: EmbeddingSpace, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key with what the question names, the statement, the log; also where nothing was asked before."""
    session = make_session()
    make_fact(space, topic=session.topic)
    get_dials(space.name)
    trips = []
    wait = psycopg.Connection.wait

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        trips.append(args)
        return wait(self, *args, **kwargs)

    monkeypatch.setattr(psycopg.Connection, "wait", counted)
    for message in ("a first question", "a second one"):
        trips.clear()
        assert len(ask(call, session=str(session.pk), message=message)["topic_memory"]) == 1
        assert len(trips) == 3


def test_all_questions_to_a_space_are_one_prepared_statement(space: EmbeddingSpace, call: Caller) -> None:
    session = make_session()
    ask(call, session=str(session.pk))
    ask(call, topic=session.topic.slug, learner="amy", expected_concepts=["x"], top_k=50, min_confidence=0.2)
    ask(Caller(topics=[session.topic.slug]), topic=session.topic.slug, expected_concepts=[])
    about = f"%tutor_near%space_id = {space.pk} %"
    counting = "SELECT count(*), sum(generic_plans) > 2, sum(custom_plans) FROM pg_prepared_statements"
    assert fetch_prepared(f"{counting} WHERE statement LIKE %(about)s", {"about": about}) == [(1, True, 0)]
