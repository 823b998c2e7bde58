"""Triggers that write the audit: every change of a row, whoever made it and by whatever road.

An audit event is a header without content (who, which verb, what, when, in which run); the images
before and after stand apart and carry their subject, so that forgetting can take content and leave
the fact (rules.md 11). Triggers, because history kept by ``save()`` or signals misses bulk and raw
writes. They run once a statement over its transition tables: a bulk write pays one insert, not one
a row. What the caller knows (actor, verb, reason, run, time) comes from ``apps.audit.context``
through settings of the transaction; a write without a context is recorded under ``database``.
"""

from collections.abc import Sequence

import pgtrigger

_CONTEXT = """
    coalesce(nullif(current_setting('lode.at', true), '')::timestamptz, now()),
    coalesce(nullif(current_setting('lode.actor', true), ''), 'database'),
    coalesce(nullif(current_setting('lode.verb', true), ''), '{verb}'),
    '{kind}', target_id,
    nullif(current_setting('lode.run', true), '')::uuid
"""

_BODY = """
    WITH changed AS ({changed}), event AS (
        INSERT INTO audit_auditevent (at, actor, verb, target_kind, target_id, run)
        SELECT {context} FROM changed
        RETURNING id, target_id
    )
    INSERT INTO audit_auditimage (event_id, subject, before, after, reason)
    SELECT event.id, changed.subject, changed.before, changed.after,
           coalesce(current_setting('lode.reason', true), '')
    FROM event JOIN changed USING (target_id);
    RETURN NULL;
"""

_CREATED = """
    SELECT r.id::text AS target_id, {subject} AS subject, NULL::jsonb AS before,
           to_jsonb(r) - {ignored} AS after FROM new_rows r
"""
_DELETED = """
    SELECT r.id::text AS target_id, {subject} AS subject, to_jsonb(r) - {ignored} AS before,
           NULL::jsonb AS after FROM old_rows r
"""
_UPDATED = """
    SELECT r.id::text AS target_id, {subject} AS subject, to_jsonb(o) - {ignored} AS before,
           to_jsonb(r) - {ignored} AS after
    FROM new_rows r JOIN old_rows o ON o.id = r.id
    WHERE to_jsonb(o) - {ignored} IS DISTINCT FROM to_jsonb(r) - {ignored}
"""


def audited(kind: str, *, ignore: Sequence[str] = (), subject: str = "''") -> list[pgtrigger.Trigger]:
    """The three triggers that audit a model whose primary key is ``id``.

    ``kind`` is the event's ``target_kind``; ``ignore`` names columns that are not audited (counters,
    caches, derived columns); ``subject`` is an SQL expression over the row ``r`` that says whom the
    images are about, so that one subject's images can be erased.
    """
    ignored = "ARRAY[" + ", ".join(f"'{column}'" for column in ignore) + "]::text[]"
    shapes = (
        ("created", pgtrigger.Insert, _CREATED, pgtrigger.Referencing(new="new_rows")),
        ("changed", pgtrigger.Update, _UPDATED, pgtrigger.Referencing(old="old_rows", new="new_rows")),
        ("deleted", pgtrigger.Delete, _DELETED, pgtrigger.Referencing(old="old_rows")),
    )
    return [
        pgtrigger.Trigger(
            name=f"audit_{verb}",
            level=pgtrigger.Statement,
            when=pgtrigger.After,
            operation=operation,
            referencing=referencing,
            func=_BODY.format(
                changed=rows.format(subject=subject, ignored=ignored),
                context=_CONTEXT.format(kind=kind, verb=verb),
            ),
        )
        for verb, operation, rows, referencing in shapes
    ]


def versioned(*, ignore: Sequence[str] = ()) -> pgtrigger.Trigger:
    """A trigger that counts ``version`` up whenever an audited column changes: what an ETag is made of."""
    ignored = "ARRAY[" + ", ".join(f"'{column}'" for column in [*ignore, "version"]) + "]::text[]"
    return pgtrigger.Trigger(
        name="count_version",
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
        func=f"""
            IF to_jsonb(OLD) - {ignored} IS DISTINCT FROM to_jsonb(NEW) - {ignored} THEN
                NEW.version := OLD.version + 1;
            END IF;
            RETURN NEW;
        """,
    )
