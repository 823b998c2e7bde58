"""rules.md 1: scopes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules import scopes
from tests.rules.strategies import any_text

learners = st.from_regex(scopes.LEARNER_PATTERN, fullmatch=True)


@given(learners)
def test_a_learner_and_its_scope_give_each_other(learner: str) -> None:
    scope = scopes.student_scope(learner)
    assert scopes.is_scope(scope)
    assert scopes.learner_of(scope) == learner


@given(learners, learners)
def test_two_learners_never_share_a_scope(one: str, other: str) -> None:
    assert (scopes.student_scope(one) == scopes.student_scope(other)) == (one == other)


@pytest.mark.parametrize("scope", scopes.SHARED_SCOPES)
def test_a_shared_scope_belongs_to_no_learner(scope: str) -> None:
    assert scopes.is_scope(scope)
    assert scopes.learner_of(scope) is None


@pytest.mark.parametrize(
    "learner", ["", ".a", "_a", "@a", "-a", "a b", "a:b", "a/b", "é", "a\n", "١", "a" * 101, "a\x00"]
)
def test_what_is_no_learner_id_is_refused(learner: str) -> None:
    assert not scopes.is_learner_id(learner)
    with pytest.raises(ValueError, match="is no learner id; give 1 to 100 of"):
        scopes.student_scope(learner)


@pytest.mark.parametrize("learner", ["1", "A", "a.b_c@d-e", "Z" * 100])
def test_what_is_a_learner_id_is_taken(learner: str) -> None:
    assert scopes.is_learner_id(learner)


@pytest.mark.parametrize(
    "scope", ["", "Public", "public ", "public\n", "student:", "student:é", "students:a", "other"]
)
def test_what_is_no_scope_is_refused(scope: str) -> None:
    assert not scopes.is_scope(scope)
    with pytest.raises(ValueError, match="is no scope; give public, tutor, visual or student:"):
        scopes.learner_of(scope)


@given(any_text)
def test_only_scopes_are_scopes(text: str) -> None:
    expected = text in {"public", "tutor", "visual"} or (
        text.startswith("student:")
        and re.fullmatch(r"(?a:\w[\w.@-]{0,99})", text[8:]) is not None
        and text[8] != "_"
    )
    assert scopes.is_scope(text) == expected
