"""Bundles for tests: the parts of one, and importing and exporting them."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.db import transaction

from apps.curriculum.actions import import_curriculum
from apps.curriculum.bundle.sources import Source, of_bytes
from apps.curriculum.bundle.writing import Format
from apps.curriculum.importing.reporting import Report
from apps.curriculum.queries import export_curriculum
from apps.dials.queries import get_dials
from tests.factories import ACTOR, NOW

DEMO = sorted((Path(__file__).parents[2] / "apps" / "curriculum" / "demo").glob("*.json"))
TOPIC = {"slug": "t", "title": "T"}


def demo() -> list[Source]:
    """The bundles of the demo's course."""
    return [of_bytes(path.read_bytes(), path.name) for path in DEMO if path.stem != "learners"]


def concept(slug: str, **given: Any) -> dict[str, Any]:
    return {"slug": slug, "title": slug.title(), **given}


def entry(name: str | None, **given: Any) -> dict[str, Any]:
    return {"topic": "t", "concept": name, "title": f"About {name}", "instruction": "Say so.", **given}


def needs(source: str, target: str, **given: Any) -> dict[str, Any]:
    ends = {"source": {"topic": "t", "concept": source}, "target": {"topic": "t", "concept": target}}
    return {**ends, "type": "prerequisite", "rationale": "so it is", **given}


def bundle(**sections: Any) -> Source:
    return of_bytes(json.dumps({"format": "lode-curriculum/1", **sections}).encode(), "bundle.json")


def imported(*sources: Source, **given: Any) -> Report:
    return import_curriculum(
        sources=sources, dials=get_dials("hash/hash-128"), actor=ACTOR, now=NOW, run=uuid4(), **given
    )


def exported(form: Format, topics: Sequence[str] | None = None) -> bytes:
    stream = io.BytesIO()
    export_curriculum(stream=stream, form=form, topics=topics)
    return stream.getvalue()


def exported_after(form: Format, *sources: Source, topics: Sequence[str] | None = None) -> bytes:
    """What is exported once ``sources`` are imported; the import is undone."""
    with transaction.atomic():
        imported(*sources)
        made = exported(form, topics)
        transaction.set_rollback(True)
    return made


WHOLE: dict[str, Any] = {
    "topics": [TOPIC],
    "concepts": [concept("a", aliases=["First letter"]), concept("b"), concept("c")],
    "entries": [entry("a"), entry("b"), entry("First letter", scope="tutor", topic=None, concept="ask-why")],
    "edges": [needs("a", "b")],
}
