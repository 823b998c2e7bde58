"""An import of 50,000 entries by ``manage.py import_curriculum``: entries a second, and memory.

The bundle is one JSON file of real sentences, with a concept for every third or fourth entry and an edge for each.
The time is the command's, from its launch on. No worker runs, so no vector is made: that is embedding, and
measured apart. The second import of the same file finds everything there and changes nothing.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from benchmarks import corpus, databases
from benchmarks.databases import ROOT
from benchmarks.rows import Row

_TOPICS = 250
_PER_TOPIC = 200
_CONCEPTS = 15_000
_ENTRIES = _TOPICS * _PER_TOPIC
_KINDS = ("prerequisite", "fallback", "leads_to", "related")


def run() -> list[Row]:
    """The first import of the bundle, and the second."""
    bundle: Path = settings.LODE_VAR / "import.json"
    bundle.write_text(json.dumps(_bundle()), encoding="utf-8")
    name = databases.fresh_database("import")
    first, memory = _import(bundle, name)
    again, _ = _import(bundle, name)
    with databases.superuser(name) as connection:
        assert connection.execute("SELECT count(*) FROM entries_entry").fetchone() == (_ENTRIES,)
    return [
        Row("import", _ENTRIES / first, "entries/s"),
        Row("import of 50,000", first, "s"),
        Row("import again, unchanged", again, "s"),
        Row("bundle", bundle.stat().st_size / 2**20, "MB"),
        Row("peak memory of the command", memory, "MB"),
    ]


def _import(bundle: Path, name: str) -> tuple[float, float]:
    """Seconds and peak megabytes of the command. Of its children, this process has had none larger."""
    command = [sys.executable, "manage.py", "import_curriculum", str(bundle)]
    began = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **databases.environment(name)},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - began
    if done.returncode:
        raise RuntimeError(f"{done.stdout}{done.stderr}")
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def _bundle() -> dict[str, Any]:
    texts = corpus.sentences(settings.LODE_DATA_DIR)
    return {
        "format": "lode-curriculum/1",
        "topics": [{"slug": f"topic-{n}", "title": f"Topic {n}", "description": ""} for n in range(_TOPICS)],
        "concepts": [
            {"slug": f"concept-{n}", "title": f"Concept {n}", "definition": "", "aliases": []}
            for n in range(_CONCEPTS)
        ],
        "entries": [_entry(number, texts[number % len(texts)]) for number in range(_ENTRIES)],
        "edges": list(_edges()),
    }


def _entry(number: int, text: str) -> dict[str, Any]:
    return {
        **_place(number),
        "scope": "public",
        "title": text[:60],
        "instruction": text,
        "detail": "",
        "visual": None,
        "confidence": None,
        "maturity": None,
        "importance": None,
    }


def _place(number: int) -> dict[str, str]:
    topic, within = divmod(number, _PER_TOPIC)
    return {"topic": f"topic-{topic}", "concept": f"concept-{(topic * 41 + within) % _CONCEPTS}"}


def _edges() -> Iterator[dict[str, Any]]:
    """From each entry but a topic's last to the next: long chains, and no cycle."""
    for number in range(_ENTRIES):
        if (number + 1) % _PER_TOPIC:
            yield {
                "source": _place(number),
                "target": _place(number + 1),
                "type": _KINDS[number % len(_KINDS)],
                "provenance": "seed",
                "confidence": None,
                "condition": "",
                "rationale": "The next sentence builds on this one.",
            }
