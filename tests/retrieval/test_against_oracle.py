"""Retrieval, searches and walks against the oracle: rules.md 4 to 7 in plain Python, by another hand.

Vectors come from the strategies, those of questions too, so that no provider takes part.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest
from hypothesis import event
from hypothesis import strategies as st

from apps.core.errors import Refusal
from apps.embeddings.errors import ProviderUnavailableError
from apps.retrieval import actions, queries, questions, searches
from apps.tutoring.models import Retrieval
from tests.factories import NOW, make_space
from tests.oracle import match as oracle_match
from tests.oracle import walk as oracle_walk
from tests.oracle.match import Filter
from tests.oracle.model import UNBOUND, Dials, RefusedError, Request, Vector, World
from tests.oracle.retrieve import retrieve, understand
from tests.oracle.strategies import PALETTE, concept_names, dials, filters, requests, walkers, worlds
from tests.oracle.walk import Walker
from tests.retrieval.agreement import (
    BLOCKS,
    Said,
    assert_same_answer,
    assert_same_matches,
    assert_same_named,
    assert_same_walk,
)
from tests.retrieval.worlds import access_of, fitted, in_worlds, turned

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),  # a failing world is shown whole
    pytest.mark.parametrize("examples", [25]),
]

any_dials = st.just(Dials()) | dials()


@dataclass(frozen=True)
class Reach:
    """How many rows of a large scope are scanned exactly, and how many chunks are taken of it otherwise.

    The answer is that of a scan all the same: where the chunks do not prove it, every row is scanned.
    """

    exact_scan_max_rows: int
    chunks: int


reaches = st.sampled_from((Reach(2000, 60), Reach(0, 60), Reach(3, 8), Reach(0, 4), Reach(0, 2)))


class Stage:
    """A space in which the strategies' vectors stand as they are, and what is set there for each question."""

    def __init__(self) -> None:
        self.space = make_space(model="palette", dimensions=len(PALETTE[0]))
        self.vector: Vector | None = None
        self.chunks = 60

    @contextmanager
    def set(
        self, dials: Dials, vector: Vector | None = None, reach: Reach = Reach(2000, 60)
    ) -> Iterator[None]:
        """These dials, the question's vector (None: the provider is down), and how far scopes are scanned."""
        self.vector, self.chunks = vector, reach.chunks
        with turned(dials, self.space, exact_scan_max_rows=reach.exact_scan_max_rows):
            yield

    def embed_query(self, _text: str, **_: object) -> Vector:
        """Stands where a text becomes a vector."""
        if self.vector is None:
            raise ProviderUnavailableError("down, for this example")
        return fitted(self.vector, self.space)

    def near(self, _rows: int, _size: float) -> int:
        """Stands where it is decided how many chunks a vector index is asked for."""
        return self.chunks


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage()
    monkeypatch.setattr(actions, "embed_query", stage.embed_query)
    monkeypatch.setattr(searches, "embed_query", stage.embed_query)
    monkeypatch.setattr(queries, "near", stage.near)
    return stage


def refused_alike(ask: Callable[[], object], refusal: RefusedError) -> None:
    """The product refuses what the oracle refuses, in its own words."""
    event(f"refused: {refusal.code}")
    with pytest.raises(Refusal) as refused:
        ask()
    assert refused.value.code == {"depth": "out_of_range"}.get(refusal.code, refusal.code)


# Retrieve


@dataclass(frozen=True)
class Question:
    """One request of a world, the dials that it is answered under, and how far scopes are scanned."""

    request: Request
    dials: Dials
    reach: Reach


def some_question(world: World) -> st.SearchStrategy[Question]:
    return st.builds(Question, requests(world), any_dials, reaches)


def test_a_retrieval_is_the_oracles(examples: int, stage: Stage) -> None:
    def compare(world: World, question: Question) -> None:
        with stage.set(question.dials, question.request.query_vector, question.reach):
            answered_alike(world, question.request, question.dials)

    in_worlds(examples, worlds(), stage.space, some_question, compare)


def answered_alike(world: World, request: Request, dials: Dials) -> None:
    try:
        theirs = retrieve(world, request, dials)
    except RefusedError as refusal:
        refused_alike(lambda: answer_to(request), refusal)
        return
    said = answer_to(request)
    assert_same_answer(said, understand(world, request, dials), theirs)
    assert_logged(said)


def answer_to(request: Request) -> Said:
    return actions.retrieve(
        question=questions.Question(
            message=request.message,
            topic=request.topic,
            session=request.session,
            learner=request.learner,
            level=request.level,
            focus=request.focus,
            expected_concepts=request.expected_concepts,
            top_k=request.top_k,
            min_confidence=request.min_confidence,
        ),
        access=None if request.key == UNBOUND else access_of(request.key),
        now=NOW,
    )


def assert_logged(said: Said) -> None:
    """The log keeps what stood in the answer, in the prompt, and which edges were walked (rules.md 7)."""
    rows = [row for name in BLOCKS for row in said[name]]
    kept = Retrieval.objects.get(id=said["retrieval"])
    assert [str(entry) for entry in kept.matched_entries] == [row["entry"] for row in rows]
    assert [str(entry) for entry in kept.rendered_entries] == [row["entry"] for row in rows]
    assert kept.rendered_edges == said["rendered_edges"]
    assert kept.walked_edges == [edge["edge"] for row in rows for edge in row["edges"]]
    assert kept.response == said


# Match


@dataclass(frozen=True)
class Search:
    """One `match` of a world: by the vector itself, or by a text that the stand-in turns into it."""

    vector: Vector
    by_text: bool
    where: Filter
    dials: Dials
    reach: Reach


def some_search(_world: World) -> st.SearchStrategy[Search]:
    return st.builds(Search, st.sampled_from(PALETTE), st.booleans(), filters(), any_dials, reaches)


def test_a_match_is_the_oracles(examples: int, stage: Stage) -> None:
    def compare(world: World, search: Search) -> None:
        with stage.set(search.dials, search.vector, search.reach):
            matched_alike(world, search)

    in_worlds(examples, worlds(), stage.space, some_search, compare)


def matched_alike(world: World, search: Search) -> None:
    try:
        oracle_match.match(world, search.vector, search.where, search.dials)
    except RefusedError as refusal:
        refused_alike(lambda: matches_of(search), refusal)
        return
    assert_same_matches(matches_of(search), world, search.vector, search.where, search.dials)


def matches_of(search: Search) -> list[Said]:
    found = searches.match(
        text="why?" if search.by_text else None,
        vector=None if search.by_text else search.vector,
        where=where_of(search.where),
        access=access_of(search.where.key),
        setting=queries.setting(topic=search.where.topic, session=None),
    )
    results: list[Said] = found["results"]
    return results


def where_of(where: Filter) -> searches.Filter:
    return searches.Filter(
        scopes=where.scopes, topic=where.topic, min_confidence=where.min_confidence, limit=where.limit
    )


# Match by concepts


@dataclass(frozen=True)
class Naming:
    """One `match-concepts` of a world."""

    names: tuple[str, ...]
    where: Filter
    dials: Dials


def some_naming(_world: World) -> st.SearchStrategy[Naming]:
    return st.builds(Naming, concept_names(), filters(), any_dials)


def test_a_match_by_concepts_is_the_oracles(examples: int, stage: Stage) -> None:
    def compare(world: World, naming: Naming) -> None:
        with stage.set(naming.dials):
            named_alike(world, naming)

    in_worlds(examples, worlds(), stage.space, some_naming, compare)


def named_alike(world: World, naming: Naming) -> None:
    try:
        theirs = oracle_match.match_concepts(world, naming.names, naming.where, naming.dials)
    except RefusedError as refusal:
        refused_alike(lambda: named_by(naming), refusal)
        return
    said = named_by(naming)
    assert_same_named(said["results"], theirs, naming.dials)
    assert said["ignored"] == oracle_match.ignored(world, naming.names, naming.where, naming.dials)


def named_by(naming: Naming) -> Said:
    return searches.match_concepts(
        concepts=naming.names,
        where=where_of(naming.where),
        access=access_of(naming.where.key),
        setting=queries.setting(topic=naming.where.topic, session=None),
    )


# Walk


@dataclass(frozen=True)
class Journey:
    """One walk in a world."""

    start: UUID
    walker: Walker
    depth: int
    dials: Dials


NOWHERE = UUID(int=7)


def some_journey(world: World) -> st.SearchStrategy[Journey]:
    starts = st.sampled_from([*(entry.id for entry in world.entries), NOWHERE])
    return st.builds(Journey, starts, walkers(), st.integers(1, 7), any_dials)


def test_a_walk_is_the_oracles(examples: int, stage: Stage) -> None:
    def compare(world: World, journey: Journey) -> None:
        with stage.set(journey.dials):
            walked_alike(world, journey)

    in_worlds(examples, worlds(), stage.space, some_journey, compare)


def walked_alike(world: World, journey: Journey) -> None:
    try:
        theirs = oracle_walk.walk(world, journey.start, journey.walker, journey.dials, depth=journey.depth)
    except RefusedError as refusal:
        refused_alike(lambda: walk_of(journey), refusal)
        return
    assert_same_walk(walk_of(journey), theirs, world)


def walk_of(journey: Journey) -> Said:
    walker = journey.walker
    return searches.walk(
        start=journey.start,
        depth=journey.depth,
        min_confidence=walker.min_confidence,
        include_candidates=walker.include_candidates,
        types=walker.types,
        access=access_of(walker.key),
    )
