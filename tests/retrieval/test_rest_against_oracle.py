"""`POST retrieve` against the oracle, the whole way: REST, the key, the `hash` provider, the statement, the log."""

import json
from typing import Any

import pytest
from django.http import HttpResponse
from hypothesis import strategies as st

from apps.clients.actions import create_key
from apps.embeddings.models import EmbeddingSpace
from tests.api import Caller, problem
from tests.factories import ACTOR, NOW
from tests.oracle.model import Dials, RefusedError, Request, World
from tests.oracle.retrieve import retrieve, understand
from tests.oracle.strategies import dials, requests, worlds
from tests.retrieval.agreement import BLOCKS, Said, assert_close, assert_same_answer
from tests.retrieval.worlds import draft_of, in_worlds, turned

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),  # a failing world is shown whole
    pytest.mark.parametrize("examples", [12]),
]
STATUS = {"not_found": 404, "session_mismatch": 422, "topic_required": 422}


def some_question(world: World) -> st.SearchStrategy[tuple[Request, Dials]]:
    """Requests that the provider answers: how it fails is told elsewhere."""
    answerable = requests(world, hashed=True).filter(lambda request: request.query_vector is not None)
    return st.tuples(answerable, st.just(Dials()) | dials())


def test_an_answer_over_rest_is_the_oracles(examples: int, space: EmbeddingSpace) -> None:
    def compare(world: World, question: tuple[Request, Dials]) -> None:
        request, its_dials = question
        with turned(its_dials, space):
            answered_alike(world, request, its_dials, space)

    in_worlds(examples, worlds(hashed=True), space, some_question, compare)


def answered_alike(world: World, request: Request, dials: Dials, space: EmbeddingSpace) -> None:
    _, key = create_key(draft=draft_of(request.key), actor=ACTOR, now=NOW)
    call = Caller(key)
    answer = call.post("/api/v1/retrieve", body_of(request))
    said = json.loads(answer.content)
    try:
        theirs = retrieve(world, request, dials)
    except RefusedError as refusal:
        assert_refused(answer, refusal)
        return
    assert answer.status_code == 200, said
    assert said["space"] == space.name
    assert json.loads(call.get(f"/api/v1/retrievals/{said['retrieval']}").content) == said
    assert_factors(said)
    assert_same_answer(said, understand(world, request, dials), theirs)


def assert_refused(answer: HttpResponse, refusal: RefusedError) -> None:
    problem(answer, STATUS[refusal.code], refusal.code)


def body_of(request: Request) -> dict[str, Any]:
    named = {
        "message": request.message,
        "topic": request.topic,
        "session": request.session and str(request.session),
        "learner": request.learner,
        "level": request.level,
        "focus": request.focus,
        "expected_concepts": request.expected_concepts,
        "top_k": request.top_k,
        "min_confidence": None if request.min_confidence is None else float(request.min_confidence),
    }
    return {"explain": True, **{name: value for name, value in named.items() if value is not None}}


def assert_factors(said: Said) -> None:
    """Every advisory's factors (taken out here) multiply to its score."""
    rows = [row for name in BLOCKS for row in said[name]]
    products = []
    for row in rows:
        factors = row.pop("factors")
        assert set(factors) == {"similarity", "confidence", "maturity_boost", "concept_bonus"}
        products.append(
            factors["similarity"]
            * factors["confidence"]
            * factors["maturity_boost"]
            * factors["concept_bonus"]
        )
    assert_close(products, [row["score"] for row in rows])
