"""Where the bands of a decision score lie in the spaces ``local`` and ``hash`` (rules.md 5).

What the two words are to mean, measured on five sets of real questions (``benchmarks.labelled``):

- ``moderate``: 99 of 100 pairs of a question and a text that does not answer it stay below;
- ``strong``: of the rows at or above it, among the first five of a question, at least half are right. Where
  no threshold has that, it is 1: out of reach, since no score of that space says as much.

A question is asked in the text of a turn, and a row is scored as one that an author has just written:
similarity x the initial confidence of a seed. Thresholds stand in steps of 0.01. A space's is the median of
the sets' own, and stands in the registry of the dials: the sets differ in subject, length and style, and in
one of them, OpenBookQA, many texts are right that are not labelled so.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from apps.embeddings.providers.base import EmbeddingProvider
from apps.embeddings.registry import get_provider
from apps.rules.dials import DialValues
from apps.rules.dials.registry import DIALS, resolve
from apps.rules.text import cut_query, turn_query_text
from benchmarks.corpus import embedded
from benchmarks.labelled import Labelled, all_sets
from benchmarks.rows import Row

_FIRST = 5
_FEWEST = 20
_QUESTIONS = 400
_STEPS = np.arange(101) / 100

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """Decision scores of one set in one space: of wrong pairs, right pairs, and each question's first five."""

    name: str
    wrong: Numbers
    right: Numbers
    first: Numbers
    first_is_right: NDArray[np.bool_]


def run() -> list[Row]:
    """The thresholds of each space, and what each set says."""
    sets = [_sample(labelled) for labelled in all_sets(settings.LODE_DATA_DIR)]
    return [row for provider in ("local", "hash") for row in _rows(provider, sets)]


def moderate_threshold(scores: Scores) -> float:
    """The least step that 99 of 100 wrong pairs stay below."""
    return float(next(step for step in _STEPS if np.mean(scores.wrong < step) >= 0.99))


def strong_threshold(scores: Scores) -> float:
    """The least step at or above which half of the first five are right; 1 where none is."""
    for step in _STEPS:
        strong = scores.first_is_right[scores.first >= step]
        if len(strong) < _FEWEST:
            break
        if strong.mean() >= 0.5:
            return float(step)
    return 1.0


def _sample(labelled: Labelled) -> Labelled:
    chosen = np.random.default_rng(1).permutation(len(labelled.questions))[:_QUESTIONS]
    return Labelled(labelled.name, labelled.documents, [labelled.questions[place] for place in chosen])


def _rows(name: str, sets: Sequence[Labelled]) -> Iterator[Row]:
    provider, dials = get_provider(name), resolve({}, name)
    scores = [_score(labelled, provider, dials) for labelled in sets]
    for band, threshold in (("moderate", moderate_threshold), ("strong", strong_threshold)):
        own = {one.name: threshold(one) for one in scores}
        kept = DIALS[f"band_{band}"].default(name)
        yield Row(f"{name} {band}", statistics.median(own.values()), "decision score", f"== {kept}")
        yield from (Row(f"{name} {band}, {each}", value, "decision score") for each, value in own.items())
    for one in scores:
        yield from _rows_of(f"{name} {one.name}", one, dials)


def _rows_of(label: str, scores: Scores, dials: DialValues) -> Iterator[Row]:
    yield Row(f"{label} wrong pairs, median", float(np.median(scores.wrong)), "decision score")
    yield Row(f"{label} right pairs, median", float(np.median(scores.right)), "decision score")
    is_moderate = scores.right >= dials.band_moderate
    yield Row(f"{label} right pairs at least moderate", float(is_moderate.mean()), "share")
    is_strong = scores.first >= dials.band_strong
    if is_strong.any():
        share = float(scores.first_is_right[is_strong].mean())
        yield Row(f"{label} right among the strong of the first five", share, "share")


def _score(labelled: Labelled, provider: EmbeddingProvider, dials: DialValues) -> Scores:
    texts = [
        turn_query_text(
            topic_title=question.topic, level="unknown", focus=None, message=question.message, dials=dials
        )
        for question in labelled.questions
    ]
    queries = _vectors(texts, provider, dials)
    documents = _vectors(labelled.documents, provider, dials)
    decision = float(dials.entry_initial_confidence_seed) * (queries @ documents.T)
    is_right = np.zeros(decision.shape, dtype=bool)
    for number, question in enumerate(labelled.questions):
        is_right[number, list(question.right)] = True
    first = np.argsort(-decision, axis=1)[:, :_FIRST]
    return Scores(
        name=labelled.name,
        wrong=decision[~is_right],
        right=decision[is_right],
        first=np.take_along_axis(decision, first, 1).ravel(),
        first_is_right=np.take_along_axis(is_right, first, 1).ravel(),
    )


def _vectors(texts: Sequence[str], provider: EmbeddingProvider, dials: DialValues) -> Numbers:
    """The vector of each text; of the few that are too long for one chunk, that of their first."""
    limit = min(dials.embedding_max_input_chars, provider.max_input_chars or dials.embedding_max_input_chars)
    cut = [cut_query(text, max_chars=limit, fits=provider.fits) for text in texts]
    cache = settings.LODE_VAR / "embedded"
    return embedded(cut, space=provider.space, embed=provider.embed, cache_dir=cache).vectors.astype(float)
