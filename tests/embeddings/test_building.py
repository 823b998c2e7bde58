"""Building, switching and rebuilding as an operator does it: with real commits, kills and other people's writes."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from pytest_django import Settings

from apps.core.database import Lock, claimed
from apps.core.errors import Conflict
from apps.embeddings import actions, indexes, queries
from apps.embeddings.errors import ProviderUnavailableError
from apps.embeddings.inventory import Inventory
from apps.embeddings.models import EmbeddingSpace
from apps.embeddings.registry import SpaceName
from apps.entries.models import Entry, EntryVector
from tests.embeddings.openai_server import OpenAIServer, Turn
from tests.factories import ACTOR, NOW, make_entry

OPENAI = SpaceName("openai", "text-embedding-3-small")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def space(settings: Settings) -> EmbeddingSpace:
    """The hash space, serving, with a vector for each of 70 tutor moves."""
    settings.LODE_EMBEDDING_PROVIDER = "hash"
    space = actions.ensure_serving_space(actor=ACTOR, now=NOW)
    for number in range(70):
        make_entry(visibility_scope="tutor", concept_slug=f"move-{number}", title=f"Move {number}")
    actions.fill(space=space, now=NOW)
    return space


@pytest.fixture
def new(space: EmbeddingSpace, openai_settings: Settings) -> EmbeddingSpace:
    return actions.begin_building(name=OPENAI, actor=ACTOR, now=NOW)


def vectors(space: EmbeddingSpace) -> int:
    return EntryVector.objects.filter(space=space).count()


@contextmanager
def elsewhere(statement: str) -> Iterator[None]:
    """A transaction of another connection that has run ``statement`` and is still open."""
    done, leave = threading.Event(), threading.Event()

    def run() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
            done.set()
            leave.wait(30)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    done.wait(30)
    try:
        yield
    finally:
        leave.set()
        thread.join()


def command_environment(server: OpenAIServer) -> dict[str, str]:
    """What makes a command in a process of its own work on the database of this test."""
    database = connection.settings_dict
    url = f"postgres://{database['USER']}@{quote(database['HOST'], safe='')}:{database['PORT']}/{database['NAME']}"
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "DATABASE_URL": url,
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "key-of-a-test",
        "LODE_OPENAI_DIMENSIONS": str(server.dimensions),
    }


def test_a_built_space_is_whole_indexed_and_switched_to(space: EmbeddingSpace, new: EmbeddingSpace) -> None:
    seen: list[int] = []
    assert actions.fill(space=new, now=NOW, progress=seen.append).stored == 70
    assert seen == [64, 6]
    assert {indexes.state_of(index) for index in indexes.indexes_of(new)} == {indexes.IndexState.VALID}
    assert queries.serving_space() == space
    assert actions.switch(name=OPENAI, actor=ACTOR, now=NOW) == new
    assert queries.serving_space() == new


def test_an_index_whose_building_was_interrupted_is_made_anew(
    space: EmbeddingSpace, new: EmbeddingSpace
) -> None:
    actions.fill(space=new, now=NOW)
    [tutor, *_] = [index for index in indexes.indexes_of(new) if "tutor" in index.name]
    indexes.drop(new, concurrently=True)
    with connection.cursor() as cursor, pytest.raises(DatabaseError, match="could not create unique index"):
        cursor.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {tutor.name} ON entries_entryvector (dimensions)")
    assert indexes.state_of(tutor) is indexes.IndexState.INVALID
    with pytest.raises(Conflict, match="lacks"):
        actions.switch(name=OPENAI, actor=ACTOR, now=NOW)
    actions.fill(space=new, now=NOW)
    assert indexes.state_of(tutor) is indexes.IndexState.VALID


def test_a_killed_build_is_gone_on_with(
    space: EmbeddingSpace, new: EmbeddingSpace, openai_server: OpenAIServer
) -> None:
    openai_server.answers(Turn())
    openai_server.ever = Turn(silent_for=60)
    command = [sys.executable, "manage.py", "embeddings", "build", "openai/text-embedding-3-small"]
    build = subprocess.Popen(command, env=command_environment(openai_server))
    while len(openai_server.requests) < 2:
        assert build.poll() is None
        time.sleep(0.05)
    build.kill()
    build.wait()
    assert vectors(new) == 64
    openai_server.ever = Turn()
    assert actions.fill(space=new, now=NOW).stored == 6
    asked = [text for request in openai_server.requests for text in request["input"]]
    assert len(asked) == 64 + 6 + 6
    assert len(set(asked)) == 70


def test_who_fills_a_space_is_the_only_one(space: EmbeddingSpace, new: EmbeddingSpace) -> None:
    with elsewhere(f"SELECT pg_advisory_lock({Lock.EMBEDDING.value}, {new.pk})"):
        actions.sweep(now=NOW, is_over=lambda: False)
        assert vectors(new) == 0
        with claimed(Lock.EMBEDDING, new.pk) as ours:
            assert not ours
    actions.fill(space=new, now=NOW)
    assert vectors(new) == 70


def test_a_row_that_another_transaction_changes_is_not_waited_for(
    space: EmbeddingSpace, new: EmbeddingSpace
) -> None:
    entry = Entry.objects.order_by("pk")[3]
    with elsewhere(f"UPDATE entries_entry SET title = 'changing' WHERE id = '{entry.pk}'"):
        assert actions.fill(space=new, now=NOW).stored == 69
    assert actions.fill(space=new, now=NOW).stored == 1


def test_a_switch_waits_for_writers_a_little_and_then_says_so(
    space: EmbeddingSpace, new: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "_SWITCH_LOCK_TIMEOUT", "100ms")
    actions.fill(space=new, now=NOW)
    with elsewhere("UPDATE entries_entry SET match_count = 1"), pytest.raises(Conflict) as refused:
        actions.switch(name=OPENAI, actor=ACTOR, now=NOW)
    assert refused.value.code == "space_busy"
    assert actions.switch(name=OPENAI, actor=ACTOR, now=NOW) == new


class TestRebuild:
    def test_makes_every_vector_anew_from_one_read(
        self, space: EmbeddingSpace, new: EmbeddingSpace, openai_server: OpenAIServer, tmp_path: Path
    ) -> None:
        actions.fill(space=new, now=NOW)
        actions.switch(name=OPENAI, actor=ACTOR, now=NOW)
        openai_server.requests.clear()
        reads: list[Inventory] = []
        outcome = actions.rebuild(actor=ACTOR, now=NOW.replace(hour=13), on_read=reads.append)
        assert outcome.stored == 70
        assert set(EntryVector.objects.filter(space=new).values_list("created_at", flat=True)) == {
            NOW.replace(hour=13)
        }
        asked = [text for request in openai_server.requests for text in request["input"]]
        snapshot = reads[0].as_json()
        assert len(asked) == snapshot["counts"]["entries"] == 70
        assert snapshot["texts"]["entries"] == [
            [str(entry.pk), entry.text_hash] for entry in Entry.objects.order_by("pk")
        ]
        assert [
            (found["name"], found["state"], found["vectors"]["entries"]) for found in snapshot["spaces"]
        ] == [
            ("hash/hash-128", "retired", 70),
            ("openai/text-embedding-3-small", "serving", 70),
        ]
        new.refresh_from_db()
        assert new.rebuilding_since is None

    def test_that_broke_off_goes_on_while_the_old_vectors_serve(
        self, space: EmbeddingSpace, new: EmbeddingSpace, openai_server: OpenAIServer
    ) -> None:
        actions.fill(space=new, now=NOW)
        actions.switch(name=OPENAI, actor=ACTOR, now=NOW)
        openai_server.answers(Turn())
        openai_server.ever = Turn(status=500, headers={"retry-after-ms": "1"})
        with pytest.raises(ProviderUnavailableError):
            actions.rebuild(actor=ACTOR, now=NOW.replace(hour=13))
        assert vectors(new) == 70
        openai_server.ever = Turn()
        assert actions.rebuild(actor=ACTOR, now=NOW.replace(hour=14)).stored == 6

    def test_without_a_space_is_refused(self) -> None:
        with pytest.raises(Conflict, match="no space serves yet"):
            actions.rebuild(actor=ACTOR, now=NOW)


class TestCommand:
    @staticmethod
    def run(*arguments: str) -> str:
        out = StringIO()
        call_command("embeddings", *arguments, stdout=out, stderr=out, no_color=True)
        return out.getvalue()

    def test_builds_and_switches(
        self, space: EmbeddingSpace, openai_settings: Settings, tmp_path: Path
    ) -> None:
        written = "openai/text-embedding-3-small"
        with pytest.raises(CommandError, match="there is no such space"):
            self.run("switch", written)
        assert f"70 texts embedded in {written}" in self.run("build", written)
        assert f"0 texts embedded in {written}" in self.run("build", written)
        status = self.run("status")
        assert "70 of 70 entries" in status
        assert "building" in status
        assert f"{written} serves" in self.run("switch", written)
        assert "70 texts embedded" in self.run("rebuild", "--snapshot", str(tmp_path / "snapshot.json"))
        assert json.loads((tmp_path / "snapshot.json").read_text())["space"] == written

    def test_says_which_texts_were_refused_and_fails(
        self, space: EmbeddingSpace, openai_settings: Settings, openai_server: OpenAIServer
    ) -> None:
        bad = Entry.objects.order_by("pk")[69]

        def poison(answer: dict[str, list[dict[str, object]]]) -> object:
            for item, text in zip(answer["data"], openai_server.requests[-1]["input"], strict=True):
                if text.startswith("Move 69\n"):
                    item["embedding"] = [0.0] * 12
            return answer

        openai_server.ever = Turn(change=poison)
        out = StringIO()
        with pytest.raises(CommandError, match="1 texts have no vector in openai/"):
            call_command("embeddings", "build", "openai/text-embedding-3-small", stderr=out)
        assert (
            f"entries {bad.pk}: openai/text-embedding-3-small: the vector of text 1 has norm 0"
            in out.getvalue()
        )

    @pytest.mark.parametrize("written", ["openai", "magic/model", "hash/hash-256"])
    def test_refuses_what_is_no_space(self, written: str) -> None:
        with pytest.raises(CommandError):
            self.run("build", written)


def test_fill_embeds_what_the_serving_space_lacks_and_makes_one_where_none_serves(settings: Settings) -> None:
    settings.LODE_EMBEDDING_PROVIDER = "hash"
    make_entry(visibility_scope="tutor", concept_slug="move", title="Move")
    output = StringIO()
    call_command("embeddings", "fill", stdout=output)
    serving = queries.serving_space()
    assert serving is not None
    assert vectors(serving) == 1
    assert f"1 texts embedded in {serving.name}" in output.getvalue()
    call_command("embeddings", "fill", stdout=output)
    assert f"0 texts lack a vector in {serving.name}" in output.getvalue()


def test_fill_leaves_more_than_it_may_do_to_the_workers(space: EmbeddingSpace) -> None:
    for number in range(3):
        make_entry(visibility_scope="tutor", concept_slug=f"late-{number}", title=f"Late {number}")
    output = StringIO()
    call_command("embeddings", "fill", "--at-most=2", stdout=output)
    assert vectors(space) == 70
    assert "3 texts lack a vector" in output.getvalue()
    call_command("embeddings", "fill", "--at-most=3", stdout=output)
    assert vectors(space) == 73
