"""What an archived entry must pass before it returns.

Edges stand above entries and may have changed while it was away; whoever must be asked registers a
check here when its app is ready. Rejected: a restore verb in ``edges``, since entries' own views and
admin could not call it.
"""

from collections.abc import Callable

from apps.entries.models import Entry
from apps.rules.dials import DialValues

Check = Callable[[Entry, DialValues], None]

_checks: list[Check] = []


def register(check: Check) -> None:
    """Ask ``check`` about every entry that has just returned; it raises a Refusal to undo that."""
    if check not in _checks:
        _checks.append(check)


def refuse_unfit(entry: Entry, dials: DialValues) -> None:
    """Ask every registered check. The caller holds ``Lock.PREREQUISITES`` and undoes the return on a Refusal."""
    for check in _checks:
        check(entry, dials)
