"""`match` and `match-concepts` (api.md): one pass over any scopes, by hand."""

from decimal import Decimal

import pytest

from tests.oracle.examples import EAST, SPEC, bound, entry, numbers, student, toward, tutor, world
from tests.oracle.match import Filter, ignored, match, match_concepts
from tests.oracle.model import PUBLIC, TUTOR, VISUAL, RefusedError

ROWS = world(
    entry(1, "0.9", concept_slug="xor", vectors=toward(0.9)),
    entry(2, "0.8", concept_slug="xor", topic="nets", vectors=toward(0.85), maturity="proven"),
    tutor(3, "0.7", concept_slug="xor", topic="nets", vectors=toward(0.95)),
    student(4, "ann", "0.75", concept_slug="mixes-up-or", vectors=toward(0.99)),
    entry(5, "0.99", scope=VISUAL, topic=None, concept_slug="rot13", vectors=None),
)
EVERY_SCOPE = (PUBLIC, TUTOR, VISUAL, "student:ann")


class TestMatch:
    def test_orders_by_similarity_times_boost_across_scopes(self) -> None:
        """0.99, 0.95, 0.85 x 1.10 = 0.935, 0.90; row 5 has no vector."""
        found = match(ROWS, EAST, Filter(scopes=EVERY_SCOPE), SPEC)
        assert numbers(found) == [4, 3, 2, 1]
        assert [one.rank for one in found] == pytest.approx([0.99, 0.95, 0.935, 0.9])

    def test_limit_scopes_and_minimum(self) -> None:
        assert numbers(match(ROWS, EAST, Filter(), SPEC)) == [2, 1]
        assert numbers(match(ROWS, EAST, Filter(scopes=EVERY_SCOPE, limit=1), SPEC)) == [4]
        asked = Filter(scopes=EVERY_SCOPE, min_confidence=Decimal("0.8"))
        assert numbers(match(ROWS, EAST, asked, SPEC)) == [2, 1]

    def test_a_topic_filters_every_scope(self) -> None:
        """rules.md 4: its topic is the topic asked for."""
        assert numbers(match(ROWS, EAST, Filter(scopes=EVERY_SCOPE, topic="nets"), SPEC)) == [3, 2]
        with pytest.raises(RefusedError, match="not_found"):
            match(ROWS, EAST, Filter(topic="nowhere"), SPEC)

    def test_what_a_key_may_not_see_is_not_there(self) -> None:
        bounded = Filter(scopes=EVERY_SCOPE, key=bound("crypto", prefix="b"))
        assert numbers(match(ROWS, EAST, bounded, SPEC)) == [3, 1]
        with pytest.raises(RefusedError, match="not_found"):
            match(ROWS, EAST, Filter(topic="nets", key=bound("crypto")), SPEC)


class TestMatchConcepts:
    def test_orders_by_boost_times_confidence(self) -> None:
        """0.90, 0.80 x 1.10 = 0.88, 0.70; the alias stands for its slug."""
        found = match_concepts(ROWS, ("exclusive-or",), Filter(scopes=EVERY_SCOPE), SPEC)
        assert numbers(found) == [1, 2, 3]
        assert [one.rank for one in found] == pytest.approx([0.9, 0.88, 0.7])

    def test_own_names_are_found_as_they_are_written(self) -> None:
        """rules.md 1: `tutor` and `student:` slugs are names of their own."""
        asked = Filter(scopes=EVERY_SCOPE)
        assert numbers(match_concepts(ROWS, ("mixes-up-or",), asked, SPEC)) == [4]

    def test_an_alias_is_an_own_name_too(self) -> None:
        """A tutor move may be called what an alias is; the concept's rows are found beside it."""
        rows = world(*ROWS.entries, tutor(6, "0.6", maturity="proven", concept_slug="exclusive-or"))
        found = match_concepts(rows, ("exclusive-or",), Filter(scopes=EVERY_SCOPE), SPEC)
        assert numbers(found) == [1, 2, 3, 6]

    def test_ignored_are_names_that_nothing_bears(self) -> None:
        """A row that the limit cut off bears its name all the same; one of another scope does not."""
        asked = Filter(scopes=("student:ann",), limit=1)
        names = ("nothing", "mixes-up-or", "caesar", "nothing", "xor")
        assert ignored(ROWS, names, asked, SPEC) == ["nothing", "caesar"]
        assert ignored(ROWS, ("mixes-up-or",), Filter(), SPEC) == ["mixes-up-or"]

    def test_an_archived_concept_and_the_unanchored_are_never_found(self) -> None:
        rows = world(*ROWS.entries, entry(6), tutor(7))
        asked = Filter(scopes=EVERY_SCOPE)
        assert match_concepts(rows, ("rot13", "caesar", "_unanchored_"), asked, SPEC) == []
