"""The closed sets of words that the rules speak of (rules.md 1), as the values that are stored."""

from collections.abc import Mapping
from enum import StrEnum


class Maturity(StrEnum):
    """How far an entry has proved itself; `archived` is retired."""

    CANDIDATE = "candidate"
    PATTERN = "pattern"
    PROVEN = "proven"
    ARCHIVED = "archived"


class Provenance(StrEnum):
    """What kind of evidence made a row: a person, a reading of the content, or students (`source_type`)."""

    SEED = "seed"
    ENRICHED = "enriched"
    LEARNED = "learned"


class EdgeType(StrEnum):
    """What an edge says, in the order in which edges are walked (rules.md 6)."""

    PREREQUISITE = "prerequisite"
    FALLBACK = "fallback"
    LEADS_TO = "leads_to"
    RELATED = "related"
    SUPERSEDES = "supersedes"


EDGE_VERBS: Mapping[str, str] = {
    EdgeType.PREREQUISITE: "needs",
    EdgeType.FALLBACK: "falls back to",
    EdgeType.LEADS_TO: "leads to",
    EdgeType.RELATED: "is related to",
    EdgeType.SUPERSEDES: "supersedes",
}
"""What an edge of each type says between its source and its target."""


class LadderStep(StrEnum):
    """The step of the ladder that found an entry's concept (rules.md 9)."""

    EXACT = "exact"
    SIMILAR = "similar"
    MINTED = "minted"
    UNANCHORED = "unanchored"


class LedgerKind(StrEnum):
    """Why a confidence changed (rules.md 10, the ledger)."""

    INITIAL = "initial"
    OBSERVATION = "observation"
    SET = "set"


class Outcome(StrEnum):
    """How a turn ended; a turn may also have none."""

    SUCCESS = "success"
    FAILURE = "failure"


class FoundBy(StrEnum):
    """The kind of pass that found a row (rules.md 5)."""

    SEMANTIC = "semantic"
    CONCEPT = "concept"


class Band(StrEnum):
    """The label of an advisory (rules.md 5); labels only, nothing is decided by them."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"
    NAMED = "named"
