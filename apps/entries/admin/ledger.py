"""A ledger in words: why a confidence is what it is."""

from collections.abc import Iterable

from apps.core.admin import html
from apps.entries.models import LedgerKind, LedgerRow


def words(row: LedgerRow) -> str:
    """Why a confidence moved, as a person would say it."""
    session = f" in session {row.session}" if row.session else ""
    turn = f" for turn {row.turn}" if row.turn else ""
    return {
        LedgerKind.INITIAL: f"began{session}",
        LedgerKind.OBSERVATION: f"was observed again{session}",
        LedgerKind.SET: "was set",
        LedgerKind.GRADE: f"was graded {row.outcome}{turn}",
        LedgerKind.CORRECTION: f"was corrected{turn}",
        LedgerKind.MERGE: "came together in a merge",
    }[LedgerKind(row.kind)]


def panel(rows: Iterable[LedgerRow], address: str) -> html.Panel:
    """The last steps of a confidence, the newest first."""
    return html.Panel(
        title="How its confidence came to be",
        headers=["When", "What happened", "From", "To"],
        rows=[
            [html.moment(row.at), words(row), html.number(row.before), html.number(row.after)] for row in rows
        ],
        nothing="It has no ledger, which an invariant forbids: run manage.py verify_invariants.",
        more=html.link(address, "Whole ledger"),
    )
