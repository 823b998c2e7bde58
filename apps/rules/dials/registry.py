"""Every dial, declared once: the field gives key and type, its annotation all else (dials.md).

To add a dial, add a field to DialValues; where it must keep an order with others, name the order in
`validation.py`. `DialValues` is what the rules read: mypy finds an unknown key.
"""

import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, Literal

from apps.rules.dials.declaration import PROVIDERS, Declared, Dial, Kind, Value

# Bands by decision score. Those of `openai` are in production use, the others measured by
# `python -m benchmarks bands`, which says what the words mean. In `local`, 99 of 100 wrong pairs of a
# question and a text stay below 0.30 (0.28 to 0.35, by set), where half of the right ones stand (medians
# 0.29 to 0.36); from 0.44 (0.39 to 0.53) half of the first five are right. In `hash`, right and wrong
# pairs hardly differ (medians 0.68 to 0.74 and 0.65 to 0.72): 0.76 is passed by nothing but chance, and
# no score is worth the word strong.
_BAND_STRONG = {"openai": 0.60, "local": 0.44, "hash": 1.00}
_BAND_MODERATE = {"openai": 0.40, "local": 0.30, "hash": 0.76}


@dataclass(frozen=True, kw_only=True)
class DialValues:
    """The value of every dial for one operation in one space. Confidences are Decimal, as they are stored."""

    # Which rows may compete
    retrieval_min_confidence: Annotated[
        Decimal,
        Declared("retrieval", 0.40, 0, 1, "confidence", "4"),
        "Raising it keeps more rows out of answers whose caller gives no minimum of its own.",
    ]
    retrieval_floor_proven: Annotated[
        Decimal,
        Declared("retrieval", 0.30, 0, 1, "confidence", "4"),
        "Raising it keeps more proven rows out; it acts only where a caller asks for a lower minimum.",
    ]
    retrieval_floor_pattern: Annotated[
        Decimal,
        Declared("retrieval", 0.40, 0, 1, "confidence", "4"),
        "Raising it keeps more rows of maturity pattern out of every answer.",
    ]
    retrieval_floor_candidate: Annotated[
        Decimal,
        Declared("retrieval", 0.70, 0, 1, "confidence", "4"),
        "Lowering it lets candidates, which nothing has confirmed yet, into answers sooner.",
    ]

    # The passes of one retrieval
    retrieval_top_k: Annotated[
        int,
        Declared("retrieval", 5, 1, 50, "advisories", "5"),
        "Raising it hands more topic advisories to a turn whose client names no number.",
    ]
    retrieval_overfetch: Annotated[
        int,
        Declared("retrieval", 4, 1, 20, "times top_k", "5"),
        "Raising it lets confidence and the concept bonus lift rows from farther down the similarity order.",
    ]
    tutor_top_k: Annotated[
        int,
        Declared("retrieval", 3, 0, 20, "advisories", "5"),
        "Raising it appends more tutor moves; 0 leaves the tutor block out.",
    ]
    student_top_k: Annotated[
        int,
        Declared("retrieval", 3, 0, 20, "advisories", "5"),
        "Raising it appends more of the learner's own patterns; 0 leaves the block out.",
    ]
    exact_scan_max_rows: Annotated[
        int,
        Declared("retrieval", 2000, 0, 1_000_000, "rows", "4"),
        "Raising it gives exact answers over larger scopes and takes more time for each.",
    ]
    maturity_boost_proven: Annotated[
        float,
        Declared("retrieval", 1.10, 0.5, 2, "factor", "5"),
        "Raising it ranks proven rows above nearer ones.",
    ]
    maturity_boost_pattern: Annotated[
        float,
        Declared("retrieval", 1.05, 0.5, 2, "factor", "5"),
        "Raising it ranks rows of maturity pattern above nearer candidates.",
    ]
    maturity_boost_candidate: Annotated[
        float,
        Declared("retrieval", 1.00, 0.5, 2, "factor", "5"),
        "Lowering it ranks candidates behind rows that are farther but confirmed.",
    ]
    concept_match_bonus: Annotated[
        float,
        Declared("retrieval", 1.30, 1, 3, "factor", "5"),
        "Raising it ranks rows of an expected concept further ahead of the others.",
    ]
    concept_collision: Annotated[
        Literal["named", "semantic"],
        Declared("retrieval", "named", None, None, "", "5"),
        "With named, a row that both passes found ranks as an exact match; with semantic, by its cosine.",
    ]
    concept_only_max: Annotated[
        int,
        Declared("retrieval", 2, 0, 50, "advisories", "5"),
        "Raising it lets concepts inferred from the session bring in more rows far from the message.",
    ]
    expected_concepts_turn_window: Annotated[
        int,
        Declared("retrieval", 3, 0, 20, "turns", "5"),
        "Raising it expects the concepts of earlier turns too; 0 infers none.",
    ]
    band_strong: Annotated[
        float,
        Declared("retrieval", _BAND_STRONG, 0, 1, "decision score", "5"),
        "Raising it labels fewer advisories strong; it changes no ranking.",
    ]
    band_moderate: Annotated[
        float,
        Declared("retrieval", _BAND_MODERATE, 0, 1, "decision score", "5"),
        "Raising it labels more advisories weak; it changes no ranking.",
    ]
    advisory_clip_chars: Annotated[
        int,
        Declared("retrieval", 400, 40, 4000, "characters", "5"),
        "Raising it hands over longer instructions and makes prompts longer.",
    ]
    edge_line_clip_chars: Annotated[
        int,
        Declared("retrieval", 100, 20, 1000, "characters", "7"),
        "Raising it shows more of an edge's target on its line of the prompt.",
    ]
    student_message_clip_chars: Annotated[
        int,
        Declared("retrieval", 500, 50, 4000, "characters", "3"),
        "Raising it lets more of a long student message decide what is near.",
    ]

    # Text to vector
    embedding_max_input_chars: Annotated[
        int,
        Declared("vectors", 2000, 200, 32_000, "characters", "3"),
        "Lowering it splits texts into more and shorter chunks, each with a vector of its own.",
    ]
    embedding_batch_size: Annotated[
        int,
        Declared("vectors", 64, 1, 2048, "texts", "3"),
        "Raising it embeds more texts with each call of a provider.",
    ]
    embedding_cache_seconds: Annotated[
        int,
        Declared("vectors", 86_400, 0, 2_592_000, "seconds", "3"),
        "Raising it embeds a repeated query less often; 0 keeps no query vectors.",
    ]

    # Confidence of entries
    entry_initial_confidence: Annotated[
        Decimal,
        Declared("entries", 0.50, 0.01, 0.99, "confidence", "8"),
        "Raising it starts what was observed nearer to being retrieved.",
    ]
    entry_initial_confidence_seed: Annotated[
        Decimal,
        Declared("entries", 0.80, 0.01, 0.99, "confidence", "8"),
        "Raising it starts what a person authored further above the floors.",
    ]
    match_quality_exact: Annotated[
        Decimal,
        Declared("entries", 1.00, 0, 1, "factor", "9"),
        "Lowering it starts entries whose concept was found by name with less confidence.",
    ]
    match_quality_unanchored: Annotated[
        Decimal,
        Declared("entries", 0.50, 0, 1, "factor", "9"),
        "Lowering it starts entries without a concept with less confidence.",
    ]

    # Confidence of edges
    edge_initial_confidence_seed: Annotated[
        Decimal,
        Declared("edges", 0.80, 0.05, 1, "confidence", "10"),
        "Raising it starts edges that a person drew further above the walk floor.",
    ]
    edge_initial_confidence_enriched: Annotated[
        Decimal,
        Declared("edges", 0.40, 0.05, 1, "confidence", "10"),
        "Raising it starts edges that a reading of the content proposed further above the walk floor.",
    ]
    edge_initial_confidence_learned: Annotated[
        Decimal,
        Declared("edges", 0.30, 0.05, 1, "confidence", "10"),
        "Lowering it below the walk floor hides an edge that one session showed until more agree.",
    ]
    edge_corroborated_confidence: Annotated[
        Decimal,
        Declared("edges", 0.60, 0.05, 1, "confidence", "10"),
        "Raising it trusts an edge more once enough sessions have shown it.",
    ]
    edge_corroboration_hits: Annotated[
        int,
        Declared("edges", 3, 2, 100, "sessions", "10"),
        "Raising it asks for more sessions before an edge counts as corroborated.",
    ]

    # Walking edges
    edge_walk_min_confidence: Annotated[
        Decimal,
        Declared("edges", 0.30, 0, 1, "confidence", "6"),
        "Raising it walks fewer edges, and only those that are trusted more.",
    ]
    edge_walk_top_k: Annotated[
        int,
        Declared("edges", 2, 0, 20, "advisories", "6"),
        "Raising it walks from more of the topic advisories; 0 walks none.",
    ]
    edge_walk_per_type: Annotated[
        int,
        Declared("edges", 2, 1, 50, "edges", "6"),
        "Raising it returns more edges of one type for an advisory.",
    ]
    edge_walk_limit: Annotated[
        int,
        Declared("edges", 8, 1, 100, "edges", "6"),
        "Raising it returns more edges of all types for an advisory.",
    ]
    edge_lines_per_type: Annotated[
        int,
        Declared("edges", 1, 0, 10, "lines", "7"),
        "Raising it prints more lines of one type under an advisory; 0 prints no decision tree.",
    ]
    edge_walk_max_depth: Annotated[
        int,
        Declared("edges", 4, 1, 10, "hops", "6"),
        "Raising it lets a client ask for longer walks.",
    ]
    edge_walk_max_nodes: Annotated[
        int,
        Declared("edges", 200, 1, 5000, "entries", "6"),
        "Raising it lets one walk return more entries before it stops and says so.",
    ]
    edge_include_candidate_targets: Annotated[
        bool,
        Declared("edges", True, None, None, "", "6"),
        "Off, edges that lead to candidates are not walked.",
    ]

    # The dials themselves
    dials_cache_seconds: Annotated[
        int,
        Declared("system", 60, 1, 60, "seconds", "dials"),
        "Raising it reads the dials less often where the notice of a change was lost.",
    ]


def _typed(kind: Kind, number: bool | float | str) -> Value:
    return Decimal(repr(number)) if kind is Decimal else kind(number)


def _bound(kind: Kind, number: float | None) -> Decimal | float | None:
    if number is None:
        return None
    return Decimal(repr(number)) if kind is Decimal else number


def _dial(key: str, annotation: Any) -> Dial:
    annotated, declared, help_text = typing.get_args(annotation)
    choices = typing.get_args(annotated)
    kind = str if choices else annotated
    by_space = isinstance(declared.default, Mapping)
    given = declared.default if by_space else dict.fromkeys(PROVIDERS, declared.default)
    return Dial(
        key=key,
        group=declared.group,
        type=kind,
        defaults=MappingProxyType({provider: _typed(kind, given[provider]) for provider in PROVIDERS}),
        by_space=by_space,
        least=_bound(kind, declared.least),
        most=_bound(kind, declared.most),
        choices=choices,
        unit=declared.unit,
        section=declared.section,
        help=help_text,
    )


DIALS: Mapping[str, Dial] = MappingProxyType(
    {field.name: _dial(field.name, field.type) for field in fields(DialValues)}
)


def resolve(overrides: Mapping[tuple[str, str | None], Value], space: str) -> DialValues:
    """The values in force in `space`: what is stored where something is, the defaults elsewhere.

    `overrides` is keyed by dial and, for a dial that belongs to a space, by the space's name exactly as given
    here (else None). Values are those that `Dial.parse` returned. Raises ValueError for an unknown provider.
    """
    return DialValues(
        **{
            key: overrides.get((key, space if dial.by_space else None), dial.default(space))
            for key, dial in DIALS.items()
        }  # type: ignore[arg-type]  # each value has its own dial's type, which a dict cannot say
    )
