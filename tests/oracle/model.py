"""The little world that the oracle reads, and what it answers, in plain frozen fields.

Nothing here knows the product: no import from `apps`, no database, no clock. Names are those of
rules.md and dials.md, so that a world is loaded into tables column by column. Topics, concepts and
learners are named by slug or external id; entries and sessions have UUIDs, edges integers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

Vector = tuple[float, ...]

PUBLIC = "public"
TUTOR = "tutor"
VISUAL = "visual"
UNANCHORED = "_unanchored_"

EDGE_TYPES = ("prerequisite", "fallback", "leads_to", "related", "supersedes")
"""In the order of a walk (rules.md 6)."""


class RefusedError(Exception):
    """The request has no answer: `code` is `not_found`, `session_mismatch`, `topic_required` or `depth`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def student_scope(learner: str) -> str:
    """The scope of one learner's rows."""
    return f"student:{learner}"


@dataclass(frozen=True, kw_only=True)
class Topic:
    slug: str
    title: str
    archived: bool = False


@dataclass(frozen=True, kw_only=True)
class Concept:
    """A canonical idea; its aliases are given in slug form, as a client would send them."""

    slug: str
    title: str
    aliases: tuple[str, ...] = ()
    archived: bool = False


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry. `vectors` holds one vector a chunk; `vector_current` is false where the entry's text
    has changed since they were made. `maturity` stays what it was when `archived` is set."""

    id: UUID
    scope: str = PUBLIC
    topic: str | None = None
    concept_slug: str = UNANCHORED
    fact_key: str | None = None
    title: str
    instruction: str
    detail: str = ""
    maturity: str = "candidate"
    confidence: Decimal
    archived: bool = False
    superseded: bool = False
    last_matched_at: datetime | None = None
    vectors: tuple[Vector, ...] | None = None
    vector_current: bool = True

    @property
    def is_row(self) -> bool:
        """Rules.md, head: neither archived nor superseded."""
        return not self.archived and not self.superseded

    @property
    def document_text(self) -> str:
        """Rules.md 3: title, instruction and detail, joined by newlines."""
        return f"{self.title}\n{self.instruction}\n{self.detail}"


@dataclass(frozen=True, kw_only=True)
class Edge:
    id: int
    source: UUID
    target: UUID
    type: str
    confidence: Decimal
    condition: str = ""
    provenance: str = "seed"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """`concepts` are all that the turn has: named by the client, of its taught entry, extracted."""

    number: int
    concepts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Session:
    id: UUID
    topic: str
    learner: str
    level: str | None = None
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Key:
    """What the caller's API key is bound to; `topics` None is every topic, prefix "" every learner."""

    topics: frozenset[str] | None = None
    learner_prefix: str = ""


UNBOUND = Key()


@dataclass(frozen=True, kw_only=True)
class World:
    topics: tuple[Topic, ...] = ()
    concepts: tuple[Concept, ...] = ()
    entries: tuple[Entry, ...] = ()
    edges: tuple[Edge, ...] = ()
    sessions: tuple[Session, ...] = ()

    def topic(self, slug: str) -> Topic | None:
        return next((topic for topic in self.topics if topic.slug == slug), None)

    def entry(self, entry_id: UUID) -> Entry:
        return next(entry for entry in self.entries if entry.id == entry_id)

    def session(self, session_id: UUID) -> Session | None:
        return next((session for session in self.sessions if session.id == session_id), None)


@dataclass(frozen=True, kw_only=True)
class Dials:
    """The dials that sections 4 to 7 read, with the defaults of dials.md (bands: those of `openai`)."""

    retrieval_min_confidence: Decimal = Decimal("0.40")
    retrieval_floor_proven: Decimal = Decimal("0.30")
    retrieval_floor_pattern: Decimal = Decimal("0.40")
    retrieval_floor_candidate: Decimal = Decimal("0.70")
    retrieval_top_k: int = 5
    retrieval_overfetch: int = 4
    tutor_top_k: int = 3
    student_top_k: int = 3
    maturity_boost_proven: Decimal = Decimal("1.10")
    maturity_boost_pattern: Decimal = Decimal("1.05")
    maturity_boost_candidate: Decimal = Decimal("1.00")
    concept_match_bonus: Decimal = Decimal("1.30")
    concept_collision: str = "named"
    concept_only_max: int = 2
    expected_concepts_turn_window: int = 3
    band_strong: Decimal = Decimal("0.60")
    band_moderate: Decimal = Decimal("0.40")
    advisory_clip_chars: int = 400
    edge_line_clip_chars: int = 100
    student_message_clip_chars: int = 500
    edge_walk_min_confidence: Decimal = Decimal("0.30")
    edge_walk_top_k: int = 2
    edge_walk_per_type: int = 2
    edge_walk_limit: int = 8
    edge_lines_per_type: int = 1
    edge_walk_max_depth: int = 4
    edge_walk_max_nodes: int = 200
    edge_include_candidate_targets: bool = True


@dataclass(frozen=True, kw_only=True)
class Request:
    """The body of a `retrieve`, its key, and the vector of its context text.

    `expected_concepts` None says nothing, `()` says none. `query_vector` None: the provider is down.
    """

    message: str
    topic: str | None = None
    session: UUID | None = None
    learner: str | None = None
    level: str | None = None
    focus: str | None = None
    expected_concepts: tuple[str, ...] | None = None
    top_k: int | None = None
    min_confidence: Decimal | None = None
    query_vector: Vector | None = None
    key: Key = UNBOUND


@dataclass(frozen=True, kw_only=True)
class Walked:
    """One edge of a walk with the entry that it leads to; `depth` counts hops from 1."""

    edge: Edge
    target: Entry
    depth: int = 1


@dataclass(frozen=True, kw_only=True)
class Advisory:
    """`instruction` is clipped, with the characters as stored; only the prompt replaces characters."""

    entry: Entry
    similarity: float | None
    score: float
    decision_score: float | None
    band: str
    found_by: tuple[str, ...]
    expected: bool
    instruction: str
    clipped: bool
    edges: tuple[Walked, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    context_text: str
    expected_concepts: tuple[str, ...]
    ignored: tuple[str, ...]
    topic_memory: tuple[Advisory, ...]
    tutor_memory: tuple[Advisory, ...]
    student_patterns: tuple[Advisory, ...]
    prompt: str
    decision_tree: str
    rendered_edges: tuple[int, ...]
    degraded: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Match:
    """A result of `match` (rank: similarity x boost) or `match_concepts` (rank: boost x confidence)."""

    entry: Entry
    similarity: float | None
    rank: float


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A longer walk: its edges in the order met, the entries reached (the start first), and whether
    the bound on nodes left something out."""

    start: Entry
    edges: tuple[Walked, ...]
    nodes: tuple[UUID, ...]
    truncated: bool


def ids(advisories: Iterable[Advisory]) -> list[UUID]:
    """The entry ids of advisories, in order."""
    return [advisory.entry.id for advisory in advisories]
