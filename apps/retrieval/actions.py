"""What a tutor should know for one turn: embedded, asked for, ranked, rendered and logged (rules.md 3 to 7)."""

import datetime as dt
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from apps.core.api.access import Access
from apps.core.ids import uuid7
from apps.embeddings.errors import EmbeddingError, EmbeddingInTransactionError
from apps.embeddings.query_vectors import QueryVector, embed_query
from apps.retrieval import answers, queries
from apps.retrieval.questions import Question, Turn, resolve
from apps.rules.prompt import Prompt, render
from apps.rules.ranking import Expected, Ranking, rank
from apps.tutoring.actions import RetrievalDraft, log_retrieval

logger = logging.getLogger(__name__)

_SEMANTIC = "semantic"
_TALLY_ROWS = 500


def retrieve(
    *, question: Question, access: Access | None, now: dt.datetime, setting: queries.Setting | None = None
) -> dict[str, Any]:
    """The answer to ``question``, logged (api.md). ``access`` None sees everything: for people.

    ``setting`` saves a round trip where the caller has read it already. Raises as ``questions.resolve``.
    """
    timings: dict[str, float] = {}
    with _timed(timings, "total"):
        setting = setting or queries.setting(topic=question.topic, session=question.session)
        turn = resolve(question, setting, access)
        with _timed(timings, "embed"):
            query = _query(turn)
        with _timed(timings, "database"):
            found = queries.retrieve(setting=setting, query=query, ask=turn.ask(access))
        ranking = _ranked(turn, found)
        prompt = render(ranking, turn.dials)
    said = _answer(turn, found, ranking, prompt, degraded=[] if query else [_SEMANTIC], timings_ms=timings)
    log_retrieval(draft=_draft(turn, access, ranking, prompt, said), now=now)
    return said


def tally(*, now: dt.datetime) -> int:
    """Count what the log says was matched, rendered and walked, once each (rules.md 5); how many retrievals.

    Each batch is one statement, so a run that is killed has counted whole batches or nothing of one.
    """
    counted = 0
    while taken := queries.tally(now=now, limit=_TALLY_ROWS):
        counted += taken
    return counted


@contextmanager
def _timed(timings: dict[str, float], name: str) -> Iterator[None]:
    """Note how many milliseconds the block took."""
    began = time.perf_counter()
    yield
    timings[name] = round((time.perf_counter() - began) * 1000, 3)


def _query(turn: Turn) -> QueryVector | None:
    """The vector of the turn; None where no space serves or its provider fails: then only names are found."""
    if turn.space is None:
        return None
    try:
        return embed_query(turn.context_text, space=turn.space, dials=turn.dials)
    except EmbeddingInTransactionError:
        raise
    except EmbeddingError as error:
        logger.warning("a retrieval goes by names alone: %s", error)
        return None


def _ranked(turn: Turn, found: queries.Found) -> Ranking:
    inferred = turn.question.expected_concepts is None
    expected = Expected(frozenset(found.concepts), inferred=inferred)
    top_k = turn.question.top_k
    return rank(found.candidates, found.edges, expected=expected, dials=turn.dials, top_k=top_k)


def _answer(
    turn: Turn, found: queries.Found, ranking: Ranking, prompt: Prompt, **others: Any
) -> dict[str, Any]:
    explain = turn.question.explain
    return {
        "retrieval": str(uuid7()),
        "space": turn.space.name if turn.space else None,
        "context_text": turn.context_text,
        "expected_concepts": found.concepts,
        "topic_memory": answers.advisories(ranking.topic, explain=explain),
        "tutor_memory": answers.advisories(ranking.tutor, explain=explain),
        "student_patterns": answers.advisories(ranking.student, explain=explain),
        "prompt": prompt.text,
        "decision_tree": prompt.decision_tree,
        "rendered_edges": list(prompt.edges),
        "dials_version": turn.dials_version,
        "ignored": found.ignored,
        **others,
    }


def _draft(
    turn: Turn, access: Access | None, ranking: Ranking, prompt: Prompt, said: dict[str, Any]
) -> RetrievalDraft:
    return RetrievalDraft(
        id=UUID(said["retrieval"]),
        api_key=access.key_id if access else None,
        learner=turn.learner or "",
        session=turn.session,
        topic_id=turn.topic_id,
        request=turn.question.as_sent(),
        response=said,
        space=said["space"] or "",
        dials_version=turn.dials_version,
        matched_entries=[row.entry for row in (*ranking.topic, *ranking.tutor, *ranking.student)],
        rendered_entries=list(prompt.entries),
        rendered_edges=list(prompt.edges),
        walked_edges=[edge.edge for row in ranking.topic for edge in row.edges],
    )
