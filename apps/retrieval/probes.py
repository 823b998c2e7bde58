"""Whether what is searched by approximation finds what a scan finds, on what was really asked lately."""

import logging
from dataclasses import dataclass

from apps.dials.queries import get_dials
from apps.embeddings.query_vectors import QueryVector, embed_query
from apps.retrieval import queries
from apps.rules.dials import DialValues
from apps.tutoring.models import Retrieval

logger = logging.getLogger(__name__)

LEAST_RECALL = 0.99
_QUESTIONS = 50
_WHATEVER_IT_TAKES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of the rows that a scan finds, over so many questions, the approximate pass found too."""

    questions: int
    expected: int
    found: int

    @property
    def share(self) -> float:
        """1.0 where there was nothing to find."""
        return self.found / self.expected if self.expected else 1.0


def probe_tutor_recall() -> Recall:
    """Compare the pass over tutor moves with a scan of them, and warn in the log where it misses too much.

    It embeds the questions that are no longer cached, so it is never called in a transaction.
    """
    setting = queries.setting()
    if setting.space is None:
        return Recall(0, 0, 0)
    dials = get_dials(setting.space.name)
    vectors = [
        embed_query(text, space=setting.space, dials=dials) for text in _recent_texts(setting.space.name)
    ]
    found = expected = 0
    for vector in vectors:
        exact = _moves(setting, vector, dials, exact_scan_max_rows=_WHATEVER_IT_TAKES)
        found += len(exact & _moves(setting, vector, dials, exact_scan_max_rows=dials.exact_scan_max_rows))
        expected += len(exact)
    return _reported(Recall(len(vectors), expected, found))


def _recent_texts(space: str) -> list[str]:
    """What was embedded for the last retrievals, each text once."""
    rows = (
        Retrieval.objects.filter(space=space).order_by("-id").values_list("response__context_text", flat=True)
    )
    return list(dict.fromkeys(rows[:_QUESTIONS]))


def _moves(
    setting: queries.Setting, vector: QueryVector, dials: DialValues, *, exact_scan_max_rows: int
) -> set[object]:
    ask = {
        "k": dials.tutor_top_k,
        "tutor_k": dials.tutor_top_k,
        "public_k": 0,
        "scopes": [],
        "topics": [],
        "topic_scopes": [],
        "clip": 1,
        "exact_scan_max_rows": exact_scan_max_rows,
        **queries.rule_values(dials, None),
    }
    return {row.entry for row in queries.match(setting=setting, query=vector, ask=ask)}


def _reported(recall: Recall) -> Recall:
    if recall.share < LEAST_RECALL:
        logger.warning(
            "the vector index over tutor moves finds %.4f of what a scan finds, over %d questions, and at least "
            "%.2f is meant: REINDEX it, or raise the dial exact_scan_max_rows",
            recall.share,
            recall.questions,
            LEAST_RECALL,
        )
    return recall
