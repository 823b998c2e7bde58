"""Silent inputs, expected concepts and what a key may see (api.md, Retrieval), by hand."""

from typing import Any

import pytest

from tests.oracle.examples import ask, bound, edge, eid, entry, numbers, session, student, tutor, world
from tests.oracle.model import Dials, RefusedError, World

KNOWN = eid(500)


def refusal(a_world: World, **fields: Any) -> str:
    with pytest.raises(RefusedError) as refused:
        ask(a_world, **fields)
    return refused.value.code


class TestSilentInputs:
    def test_context_text(self) -> None:
        """rules.md 3: topic title, level, focus or none, the first 500 characters of the message."""
        answer = ask(world(), message="é" * 501, level="expert", focus="nonces")
        assert answer.context_text == f"topic:Crypto level:expert focus:nonces student:{'é' * 500}"

    def test_an_absent_level_is_the_sessions_else_unknown(self) -> None:
        assert ask(world(), message="x").context_text == "topic:Crypto level:unknown focus:none student:x"
        taught = world(sessions=(session(level="beginner"),))
        assert "level:beginner" in ask(taught, session=KNOWN).context_text
        assert "level:expert" in ask(taught, session=KNOWN, level="expert").context_text
        assert "level:unknown" in ask(world(sessions=(session(),)), session=KNOWN).context_text

    def test_topic_and_learner_come_from_the_session(self) -> None:
        rows = world(entry(1, topic="nets"), entry(2), student(3, "ann"), sessions=(session(topic="nets"),))
        answer = ask(rows, topic=None, session=KNOWN)
        assert (numbers(answer.topic_memory), numbers(answer.student_patterns)) == ([1], [3])

    def test_and_must_agree_with_it(self) -> None:
        rows = world(sessions=(session(),))
        assert refusal(rows, session=KNOWN, topic="nets") == "session_mismatch"
        assert refusal(rows, session=KNOWN, learner="bob") == "session_mismatch"
        assert ask(rows, session=KNOWN, learner="ann").topic_memory == ()

    def test_what_does_not_exist(self) -> None:
        """A topic that does not exist is 404; an archived topic answers 404 to retrieval."""
        assert refusal(world(), topic="nowhere") == "not_found"
        assert refusal(world(), topic="old") == "not_found"
        assert refusal(world(), session=KNOWN) == "not_found"
        assert refusal(world(), topic=None) == "topic_required"

    def test_a_session_of_an_archived_topic(self) -> None:
        assert refusal(world(sessions=(session(topic="old"),)), topic=None, session=KNOWN) == "not_found"


class TestExpectedConcepts:
    def test_an_alias_becomes_its_slug(self) -> None:
        answer = ask(world(), expected_concepts=("exclusive-or", "nonce", "xor"))
        assert answer.expected_concepts == ("xor", "nonce")
        assert answer.ignored == ()

    def test_names_that_no_unarchived_concept_has_are_ignored(self) -> None:
        names = ("rot13", "caesar", "nothing", "_unanchored_", "nonce", "nothing")
        answer = ask(world(entry(1)), expected_concepts=names)
        assert answer.expected_concepts == ("nonce",)
        assert answer.ignored == ("rot13", "caesar", "nothing", "_unanchored_")
        assert answer.topic_memory[0].expected is False

    def test_absent_they_are_those_of_the_last_three_turns(self) -> None:
        turns = session(("nonce",), ("xor",), (), ())
        assert ask(world(sessions=(turns,)), session=KNOWN).expected_concepts == ("xor",)

    def test_the_window_is_a_dial(self) -> None:
        turns = session(("nonce",), ("xor",))
        rows = world(sessions=(turns,))
        assert ask(rows, Dials(expected_concepts_turn_window=1), session=KNOWN).expected_concepts == ("xor",)
        assert ask(rows, Dials(expected_concepts_turn_window=0), session=KNOWN).expected_concepts == ()

    def test_an_empty_list_says_none_and_infers_none(self) -> None:
        rows = world(entry(1, concept_slug="nonce", vectors=None), sessions=(session(("nonce",)),))
        assert numbers(ask(rows, session=KNOWN).topic_memory) == [1]
        assert ask(rows, session=KNOWN, expected_concepts=()).topic_memory == ()

    def test_what_a_turn_names_and_no_concept_has_is_left_out_silently(self) -> None:
        turns = session(("rot13", "_unanchored_", "exclusive-or", "an-own-name"))
        answer = ask(world(sessions=(turns,)), session=KNOWN)
        assert (answer.expected_concepts, answer.ignored) == (("xor",), ())

    def test_without_a_session_nothing_is_inferred(self) -> None:
        assert ask(world(sessions=(session(("nonce",)),))).expected_concepts == ()


class TestKeys:
    """api.md: what a key may not see is answered exactly like what does not exist."""

    def test_a_topic_binding_limits_topics_and_sessions(self) -> None:
        rows = world(sessions=(session(topic="nets"),))
        assert refusal(rows, topic="nets", key=bound("crypto")) == "not_found"
        assert refusal(rows, topic=None, session=KNOWN, key=bound("crypto")) == "not_found"
        assert refusal(rows, topic="crypto", session=KNOWN, key=bound("crypto")) == "not_found"
        assert ask(rows, topic="nets", key=bound("crypto", "nets")).topic_memory == ()

    def test_and_the_public_targets_of_a_walk(self) -> None:
        rows = world(entry(1), entry(2, topic="nets"), edges=(edge(9, 1, 2),))
        assert [walked.edge.id for walked in ask(rows).topic_memory[0].edges] == [9]
        assert ask(rows, key=bound("crypto")).topic_memory[0].edges == ()

    def test_tutor_rows_are_visible_to_every_key(self) -> None:
        assert numbers(ask(world(tutor(1, topic="nets")), key=bound("crypto")).tutor_memory) == [1]

    def test_a_foreign_learner_is_like_an_unknown_one(self) -> None:
        rows = world(student(1, "bob"), entry(2), edges=(edge(9, 2, 1),))
        answer = ask(rows, learner="bob", key=bound(prefix="an"))
        assert answer.student_patterns == ()
        assert answer.topic_memory[0].edges == ()
        own = ask(rows, learner="bob", key=bound(prefix="b"))
        assert numbers(own.student_patterns) == [1]
        assert [walked.edge.id for walked in own.topic_memory[0].edges] == [9]

    def test_a_foreign_learners_session_does_not_exist(self) -> None:
        assert refusal(world(sessions=(session(),)), session=KNOWN, key=bound(prefix="b")) == "not_found"
