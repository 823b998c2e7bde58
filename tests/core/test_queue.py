"""Work for later: asked for once a write has committed, and never a reason for the write to fail."""

import os
import subprocess
import sys

import pytest
from django.db import transaction
from pytest_django import DjangoCaptureOnCommitCallbacks

from apps.core.queue import Task, enqueue_on_commit
from config.celery import app


def test_every_task_that_may_be_asked_for_is_registered() -> None:
    app.loader.import_default_modules()
    assert {task.value for task in Task} <= set(app.tasks)


@pytest.mark.django_db
def test_a_task_is_asked_for_after_the_commit_alone(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks() as asked:
        with pytest.raises(ValueError, match="undone"), transaction.atomic():
            enqueue_on_commit(Task.EMBED_PENDING)
            raise ValueError("undone")
        enqueue_on_commit(Task.EMBED_PENDING, texts={"entries": []})
    assert len(asked) == 1


def test_a_broker_that_is_down_costs_no_write() -> None:
    program = (
        "import django; django.setup()\n"
        "from apps.core.queue import Task, _send\n"
        "import config.celery\n"
        "_send(Task.EMBED_PENDING, {})\n"
        "print('written')"
    )
    environment = os.environ | {"REDIS_URL": "redis://127.0.0.1:1/0"}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stdout.strip() == "written"
    assert "waits for its next sweep: the broker does not answer" in ran.stderr
