"""Visibility scopes: what separates the graphs in the one entries table (rules.md 1).

Scopes are compared for equality only: as a prefix, `student:1` would also find student 10.
"""

import re

PUBLIC = "public"
TUTOR = "tutor"
VISUAL = "visual"
SHARED_SCOPES = (PUBLIC, TUTOR, VISUAL)

_STUDENT_PREFIX = "student:"
LEARNER_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}"
"""A learner's external id: read alike by Python and PostgreSQL, not anchored."""
SCOPE_PATTERN = rf"^({PUBLIC}|{TUTOR}|{VISUAL}|{_STUDENT_PREFIX}{LEARNER_PATTERN})$"
"""Every scope there can be: read alike by Python (with `fullmatch`) and PostgreSQL, anchored."""


def is_learner_id(text: str) -> bool:
    """Whether `text` may be a learner's external id: 1 to 100 of `A-Z a-z 0-9 . _ @ -`, none of `. _ @ -` first."""
    return re.fullmatch(LEARNER_PATTERN, text) is not None


def is_scope(text: str) -> bool:
    """Whether `text` is `public`, `tutor`, `visual` or the scope of a student."""
    return re.fullmatch(SCOPE_PATTERN, text) is not None


def student_scope(learner: str) -> str:
    """The scope of what is kept of one learner, by external id.

    Raises ValueError where `learner` is no external id.
    """
    if not is_learner_id(learner):
        raise ValueError(
            f"{learner!r} is no learner id; give 1 to 100 of A-Z a-z 0-9 . _ @ -, beginning with a letter or digit"
        )
    return _STUDENT_PREFIX + learner


def learner_of(scope: str) -> str | None:
    """The external id of the learner whose scope this is; None for a shared scope.

    Raises ValueError where `scope` is no scope at all.
    """
    if not is_scope(scope):
        raise ValueError(f"{scope!r} is no scope; give public, tutor, visual or student:<learner id>")
    return None if scope in SHARED_SCOPES else scope.removeprefix(_STUDENT_PREFIX)
