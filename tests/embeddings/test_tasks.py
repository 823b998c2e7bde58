"""The worker's share, as Celery calls it."""

import logging

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from apps.catalog.actions import create_concept
from apps.core.queue import Task
from apps.dials.queries import get_dials
from apps.embeddings import queries
from apps.embeddings.tasks import embed_pending
from apps.entries.actions import EntryDraft, change_entry, create_entry
from apps.entries.models import EntryVector
from tests.embeddings.openai_server import OpenAIServer, Turn
from tests.factories import ACTOR, NOW, make_entry

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _hash(settings: Settings) -> None:
    settings.LODE_EMBEDDING_PROVIDER = "hash"


def test_the_first_call_makes_the_first_space_and_embeds_everything() -> None:
    entry = make_entry()
    embed_pending()
    serving = queries.serving_space()
    assert serving is not None
    assert EntryVector.objects.get().entry == entry
    assert queries.missing_counts(serving) == {"entries": 0, "concept-names": 0}


def test_a_call_for_some_texts_embeds_them_alone_and_minds_no_unknown_argument() -> None:
    wanted, _ = make_entry(), make_entry()
    embed_pending(texts={"entries": [str(wanted.pk)]}, of_a_later_release=True)
    assert EntryVector.objects.get().entry == wanted


def test_a_provider_that_is_down_is_said_and_waited_for(
    openai_settings: Settings, openai_server: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    openai_settings.LODE_EMBEDDING_PROVIDER = "openai"
    openai_server.ever = Turn(status=503, headers={"retry-after-ms": "1"})
    make_entry()
    with caplog.at_level(logging.WARNING):
        embed_pending()
    assert "waits for the next sweep: openai/text-embedding-3-small: status 503" in caplog.text
    openai_server.ever = Turn()
    embed_pending()
    assert EntryVector.objects.count() == 1


def test_what_is_written_asks_for_its_own_vectors(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    dials = get_dials("hash/hash-128")
    with django_capture_on_commit_callbacks() as asked:
        concept, _ = create_concept(slug="nonce", title="Nonce", aliases=["IV"], actor=ACTOR, now=NOW)
        draft = EntryDraft(scope="tutor", title="T", instruction="I.", concept="name")
        entry, _ = create_entry(draft=draft, dials=dials, actor=ACTOR, now=NOW)
        change_entry(entry=entry, changes={"title": "New"}, dials=dials, actor=ACTOR, now=NOW)
    names = sorted(concept.names.values_list("pk", flat=True))
    given = [callback.args for callback in asked]  # type: ignore[attr-defined]  # each is a partial
    assert [(task, {kind: sorted(ids) for kind, ids in rest["texts"].items()}) for task, rest in given] == [
        (Task.EMBED_PENDING, {"concept-names": names}),
        (Task.EMBED_PENDING, {"entries": [str(entry.pk)]}),
        (Task.EMBED_PENDING, {"entries": [str(entry.pk)]}),
    ]
