"""`match` and `match-concepts` (api.md): passes 1 and 2 of rules.md 5 on their own, over any scopes."""

from dataclasses import dataclass
from decimal import Decimal

from tests.oracle.model import PUBLIC, UNANCHORED, UNBOUND, VISUAL, Dials, Entry, Key, Match, Vector, World
from tests.oracle.retrieve import boost, boosted, nearest, surest
from tests.oracle.vectors import similarity
from tests.oracle.visibility import confident, find_topic, key_sees, resolve_all


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which rows may compete; None stands for no topic, and for the dials."""

    key: Key = UNBOUND
    topic: str | None = None
    scopes: tuple[str, ...] = (PUBLIC,)
    min_confidence: Decimal | None = None
    limit: int | None = None


def match(world: World, vector: Vector, asked: Filter, dials: Dials) -> list[Match]:
    """`POST match`: section 4 and the order of pass 1."""
    rows = nearest(competing(world, asked, dials), vector, dials)[: limit(asked, dials)]
    return [
        Match(entry=row, similarity=cosine, rank=boosted(row, cosine, dials))
        for row in rows
        if (cosine := similarity(row, vector)) is not None
    ]


def match_concepts(world: World, concepts: tuple[str, ...], asked: Filter, dials: Dials) -> list[Match]:
    """`POST match-concepts`: section 4 and the order of pass 2.

    In `tutor` and `student:` scopes slugs are names of their own, so there every name is looked for
    as it is written, too.
    """
    rows = surest(named(world, concepts, asked, dials), dials)[: limit(asked, dials)]
    return [Match(entry=row, similarity=None, rank=float(boost(row, dials) * row.confidence)) for row in rows]


def named(world: World, concepts: tuple[str, ...], asked: Filter, dials: Dials) -> list[Entry]:
    """The competing rows that bear one of the names, in no order."""
    slugs, _ = resolve_all(world, concepts)
    own_names = {*slugs, *concepts} - {UNANCHORED}
    return [
        row
        for row in competing(world, asked, dials)
        if row.concept_slug in (slugs if row.scope in (PUBLIC, VISUAL) else own_names)
    ]


def ignored(world: World, concepts: tuple[str, ...], asked: Filter, dials: Dials) -> list[str]:
    """The names, each once, that no unarchived concept has and that no competing row bears."""
    _, without_concept = resolve_all(world, concepts)
    borne = {row.concept_slug for row in named(world, concepts, asked, dials)}
    return [name for name in without_concept if name not in borne]


def limit(asked: Filter, dials: Dials) -> int:
    return dials.retrieval_top_k if asked.limit is None else asked.limit


def competing(world: World, asked: Filter, dials: Dials) -> list[Entry]:
    """Rules.md 4 for any scopes that the key may see; a pass with no topic crosses topics."""
    if asked.topic is not None:
        find_topic(world, asked.topic, asked.key)
    return [
        entry
        for entry in world.entries
        if entry.is_row and entry.scope in asked.scopes and key_sees(entry, asked.key)
        if asked.topic in (None, entry.topic)
        if confident(entry, asked.min_confidence, dials)
    ]
