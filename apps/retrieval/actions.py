"""What a tutor should know for one turn: embedded, asked for, ranked, rendered and logged (rules.md 3 to 7)."""

import datetime as dt
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.core.api.access import Access
from apps.core.errors import Invalid, Missing
from apps.core.ids import uuid7
from apps.dials.queries import current_snapshot
from apps.embeddings.errors import EmbeddingError, EmbeddingInTransactionError
from apps.embeddings.models import EmbeddingSpace
from apps.embeddings.query_vectors import QueryVector, embed_query
from apps.retrieval import answers, queries
from apps.retrieval.queries import Found, Setting
from apps.rules.dials import DialValues
from apps.rules.prompt import Prompt, render
from apps.rules.ranking import Advisory, Expected, Ranking, rank
from apps.rules.scopes import student_scope
from apps.rules.text import turn_query_text
from apps.tutoring.actions import RetrievalDraft, log_retrieval

logger = logging.getLogger(__name__)

SEMANTIC = "semantic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a tutor client asks for one turn (api.md, POST retrieve).

    ``expected_concepts`` None lets them be inferred from the session, and an empty list says that there are
    none. ``min_confidence`` and ``top_k`` stand for their dials.
    """

    message: str
    topic: str | None = None
    session: UUID | None = None
    learner: str | None = None
    level: str | None = None
    focus: str | None = None
    expected_concepts: Sequence[str] | None = None
    top_k: int | None = None
    min_confidence: Decimal | None = None
    explain: bool = False


def retrieve(
    *, question: Question, access: Access | None, now: dt.datetime, setting: Setting | None = None
) -> dict[str, Any]:
    """The answer to ``question``, logged (api.md). ``access`` None sees everything: for people.

    ``setting`` saves a round trip where the caller has read it already. Raises Missing for a session or topic
    that is not there or not the caller's to see, and Invalid ``session_mismatch``.
    """
    started = time.perf_counter()
    setting = setting or queries.setting(topic=question.topic, session=question.session)
    turn = _turn(question, access, setting)
    resolved = time.perf_counter()
    query = _query(turn)
    embedded = time.perf_counter()
    found = queries.retrieve(setting=setting, query=query, ask=_ask(turn, access))
    answered = time.perf_counter()
    ranking = rank(
        found.candidates, found.edges, expected=_expected(turn, found), dials=turn.dials, top_k=question.top_k
    )
    prompt = render(ranking, turn.dials)
    answer = _answer(turn, found, ranking, prompt, degraded=[] if query else [SEMANTIC])
    answer["timings_ms"] = {
        "embed": _milliseconds(embedded - resolved),
        "database": _milliseconds(answered - embedded),
        "total": _milliseconds(time.perf_counter() - started),
    }
    log_retrieval(draft=_draft(turn, access, ranking, prompt, answer), now=now)
    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """A question with all that it leaves unsaid."""

    question: Question
    space: EmbeddingSpace | None
    dials: DialValues
    dials_version: int
    topic_id: int
    topic: str
    session: UUID | None
    learner: str | None
    context_text: str

    @property
    def top_k(self) -> int:
        asked = self.question.top_k
        return self.dials.retrieval_top_k if asked is None else asked


def _turn(question: Question, access: Access | None, setting: Setting) -> _Turn:
    _check_session(question, access, setting)
    if setting.topic is None or not (access is None or access.sees_topic(setting.topic)):
        raise Missing("not_found", "there is no such topic, or none that this key may see", "/topic")
    space = setting.space
    snapshot = current_snapshot()
    dials = snapshot.values(settings.LODE_EMBEDDING_PROVIDER if space is None else space.name)
    return _Turn(
        question=question,
        space=space,
        dials=dials,
        dials_version=snapshot.version,
        topic_id=setting.topic_id or 0,
        topic=setting.topic,
        session=setting.session,
        learner=question.learner or setting.session_learner,
        context_text=turn_query_text(
            topic_title=setting.topic_title or "",
            level=question.level or setting.level or "unknown",
            focus=question.focus,
            message=question.message,
            dials=dials,
        ),
    )


def _check_session(question: Question, access: Access | None, setting: Setting) -> None:
    if question.session is None:
        return
    if not _sees_session(access, setting):
        raise Missing("not_found", "there is no such session, or none that this key may see", "/session")
    for name, given, own in (
        ("topic", question.topic, setting.session_topic),
        ("learner", question.learner, setting.session_learner),
    ):
        if given is not None and given != own:
            detail = f"the session is of {name} {own!r}; leave {name} out, or send the session's"
            raise Invalid("session_mismatch", detail, f"/{name}")


def _sees_session(access: Access | None, setting: Setting) -> bool:
    topic, learner = setting.session_topic, setting.session_learner
    if topic is None or learner is None:
        return False
    return access is None or (access.sees_topic(topic) and access.sees_learner(learner))


def _query(turn: _Turn) -> QueryVector | None:
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


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _ask(turn: _Turn, access: Access | None) -> dict[str, Any]:
    """The parameters of the statement, named as in ``sql/retrieve.sql``."""
    question, dials = turn.question, turn.dials
    return {
        "topic": turn.topic_id,
        "session": str(turn.session) if turn.session else None,
        "student_scope": _student_scope(turn.learner, access),
        "expected": None if question.expected_concepts is None else list(question.expected_concepts),
        "turn_window": dials.expected_concepts_turn_window,
        "top_k": turn.top_k,
        "fetch_k": turn.top_k * dials.retrieval_overfetch,
        "tutor_k": dials.tutor_top_k,
        "student_k": dials.student_top_k,
        "exact_scan_max_rows": dials.exact_scan_max_rows,
        "concept_bonus": dials.concept_match_bonus,
        "named_first": dials.concept_collision == "named",
        "clip": dials.advisory_clip_chars + 1,
        "walk_k": dials.edge_walk_top_k,
        "walk_per_type": dials.edge_walk_per_type,
        "walk_min_confidence": str(dials.edge_walk_min_confidence),
        "walk_candidates": dials.edge_include_candidate_targets,
        "key_topics": list(access.topics) if access and access.topics else None,
        **queries.rule_values(dials, question.min_confidence),
    }


def _student_scope(learner: str | None, access: Access | None) -> str | None:
    """The learner's own scope. One that the key may not see is answered as one that nobody knows."""
    if learner is None or not (access is None or access.sees_learner(learner)):
        return None
    return student_scope(learner)


def _expected(turn: _Turn, found: Found) -> Expected:
    return Expected(frozenset(found.concepts), inferred=turn.question.expected_concepts is None)


def _answer(
    turn: _Turn, found: Found, ranking: Ranking, prompt: Prompt, *, degraded: list[str]
) -> dict[str, Any]:
    def block(rows: Sequence[Advisory]) -> list[dict[str, Any]]:
        return [answers.advisory(row, explain=turn.question.explain) for row in rows]

    return {
        "retrieval": str(uuid7()),
        "space": turn.space.name if turn.space else None,
        "context_text": turn.context_text,
        "expected_concepts": found.concepts,
        "topic_memory": block(ranking.topic),
        "tutor_memory": block(ranking.tutor),
        "student_patterns": block(ranking.student),
        "prompt": prompt.text,
        "decision_tree": prompt.decision_tree,
        "rendered_edges": list(prompt.edges),
        "dials_version": turn.dials_version,
        "degraded": degraded,
        "ignored": found.ignored,
    }


def _draft(
    turn: _Turn, access: Access | None, ranking: Ranking, prompt: Prompt, answer: dict[str, Any]
) -> RetrievalDraft:
    return RetrievalDraft(
        id=UUID(answer["retrieval"]),
        api_key=access.key_id if access else None,
        learner=turn.learner or "",
        session=turn.session,
        topic_id=turn.topic_id,
        request=_sent(turn.question),
        response=answer,
        space=answer["space"] or "",
        dials_version=answer["dials_version"],
        matched_entries=[row.entry for row in (*ranking.topic, *ranking.tutor, *ranking.student)],
        rendered_entries=list(prompt.entries),
        rendered_edges=list(prompt.edges),
        walked_edges=[edge.edge for row in ranking.topic for edge in row.edges],
    )


def _sent(question: Question) -> dict[str, Any]:
    """The question as JSON holds it, without what was left unsaid."""
    said = {name: value for name, value in asdict(question).items() if value is not None}
    return {name: _plain(value) for name, value in said.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    return float(value) if isinstance(value, Decimal) else value
