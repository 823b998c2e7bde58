"""Writing the ledger: a confidence never moves without a row that says why (rules.md 10)."""

import datetime as dt
from decimal import Decimal

from apps.entries.models import Entry, EntryLedger, LedgerKind


def begin(entry: Entry, *, now: dt.datetime) -> EntryLedger:
    """The first row of an entry's ledger (not yet saved): its initial confidence."""
    return EntryLedger(
        entry=entry, kind=LedgerKind.INITIAL, session=entry.session, after=entry.confidence, at=now
    )


def set_confidence(entry: Entry, confidence: Decimal, *, now: dt.datetime) -> None:
    """Move ``entry`` to ``confidence`` because somebody says so, with its row. Equal changes nothing."""
    if confidence == entry.confidence:
        return
    EntryLedger.objects.create(
        entry=entry, kind=LedgerKind.SET, before=entry.confidence, after=confidence, at=now
    )
    entry.confidence = confidence


def highest(entry: Entry) -> Decimal:
    """The greatest confidence that the ledger of ``entry`` shows."""
    rows = EntryLedger.objects.filter(entry=entry).order_by("-after", "id").values_list("after", flat=True)
    return rows.first() or entry.confidence
