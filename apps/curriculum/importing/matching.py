"""Finding for every staged row what it is among the stored ones (rules.md 2), and what it will hold."""

from django.db import connection

from apps.core.sql import statements
from apps.curriculum.importing.staging import SQL_FOLDER
from apps.rules import confidence as confidences
from apps.rules import edges as edge_rules
from apps.rules.dials import DialValues
from apps.rules.words import LadderStep, Provenance

_SQL = statements(SQL_FOLDER / "matching.sql")
_ENTRY_STEPS = (
    "named_entries",
    "entries_by_id",
    "hash_texts",
    "entries_by_text",
    "fill_entries",
    "hash_texts",
)


def match(dials: DialValues) -> None:
    """Match every staged row, fill in what the files leave, and mark what differs from what is stored."""
    initial = confidences.initial_confidence(provenance=Provenance.SEED, step=LadderStep.EXACT, dials=dials)
    by_provenance = {word.value: edge_rules.initial_confidence(word, dials) for word in Provenance}
    with connection.cursor() as cursor:
        for step in ("topics", "concepts", "entry_concepts"):
            cursor.execute(_SQL[step].text)
        for step in _ENTRY_STEPS:
            cursor.execute(_SQL[step].text, {"initial": initial})
        cursor.execute(_SQL["mark_edited"].text)
    _lift_edited(dials)
    with connection.cursor() as cursor:
        for step in ("mark_changed", "end_concepts", "ends_in_files", "ends_in_database", "edges"):
            cursor.execute(_SQL[step].text, by_provenance)


def _lift_edited(dials: DialValues) -> None:
    """An author's edit lifts a row that has fallen below its floor back to it (rules.md 8)."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL["edited_without_confidence"].text)
        lifts = [
            {"n": n, "confidence": lifted}
            for n, confidence, maturity, highest in cursor.fetchall()
            if (lifted := confidences.lifted(confidence, maturity=maturity, highest=highest, dials=dials))
            != confidence
        ]
        cursor.executemany(_SQL["lift"].text, lifts)
