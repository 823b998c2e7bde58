"""The question of one turn, and what it leaves unsaid filled in (rules.md 3 and 5; api.md, POST retrieve)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.core.api.access import Access
from apps.core.errors import Invalid, Missing
from apps.dials.queries import current_snapshot
from apps.embeddings.models import EmbeddingSpace
from apps.retrieval.queries import Setting, rule_values
from apps.rules.dials import DialValues
from apps.rules.text import turn_query_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a tutor client asks for one turn.

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

    def as_sent(self) -> dict[str, Any]:
        """The question as JSON holds it, without what was left unsaid."""
        said = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: _plain(value) for name, value in said.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question with all that it leaves unsaid; ``context_text`` is what is embedded."""

    question: Question
    space: EmbeddingSpace | None
    dials: DialValues
    dials_version: int
    topic_id: int
    session: UUID | None
    learner: str | None
    context_text: str

    def ask(self, access: Access | None) -> dict[str, Any]:
        """The parameters of the statement, named as in ``sql/retrieve.sql``."""
        question, dials = self.question, self.dials
        top_k = dials.retrieval_top_k if question.top_k is None else question.top_k
        return {
            "topic": self.topic_id,
            "session": str(self.session) if self.session else None,
            "learner": self._visible_learner(access),
            "expected": None if question.expected_concepts is None else list(question.expected_concepts),
            "turn_window": dials.expected_concepts_turn_window,
            "top_k": top_k,
            "fetch_k": top_k * dials.retrieval_overfetch,
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
            **rule_values(dials, question.min_confidence),
        }

    def _visible_learner(self, access: Access | None) -> str | None:
        """The learner. One that the key may not see is answered as one that nobody knows."""
        return self.learner if _sees_learner(access, self.learner) else None


def resolve(question: Question, setting: Setting, access: Access | None) -> Turn:
    """The turn that a question is about; ``access`` None sees everything.

    Raises Missing for a session or topic that is not there or not the caller's to see, and then Invalid
    ``session_mismatch``.
    """
    if question.session is not None and not _sees_session(access, setting):
        raise Missing("not_found", "there is no such session, or none that this key may see", "/session")
    if setting.topic_id is None or not _sees_topic(access, setting.topic):
        raise Missing("not_found", "there is no such topic, or none that this key may see", "/topic")
    if question.session is not None:
        _refuse_mismatch("topic", question.topic, setting.session_topic)
        _refuse_mismatch("learner", question.learner, setting.session_learner)
    snapshot = current_snapshot()
    dials = snapshot.values(setting.space.name if setting.space else settings.LODE_EMBEDDING_PROVIDER)
    return Turn(
        question=question,
        space=setting.space,
        dials=dials,
        dials_version=snapshot.version,
        topic_id=setting.topic_id,
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


def _refuse_mismatch(name: str, given: str | None, own: str | None) -> None:
    if given is not None and given != own:
        detail = f"the session is of {name} {own!r}; leave {name} out, or send the session's"
        raise Invalid("session_mismatch", detail, f"/{name}")


def _sees_topic(access: Access | None, slug: str | None) -> bool:
    return slug is not None and (access is None or access.sees_topic(slug))


def _sees_learner(access: Access | None, learner: str | None) -> bool:
    return learner is not None and (access is None or access.sees_learner(learner))


def _sees_session(access: Access | None, setting: Setting) -> bool:
    return _sees_learner(access, setting.session_learner) and _sees_topic(access, setting.session_topic)


def _plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    return float(value) if isinstance(value, Decimal) else value
