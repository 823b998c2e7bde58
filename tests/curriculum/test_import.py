"""Importing: all or nothing, by identity, and the same twice (curriculum.md)."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from apps.curriculum.actions import import_curriculum
from apps.curriculum.bundle.sources import Source, of_bytes
from apps.curriculum.importing.reporting import Report
from apps.dials.queries import get_dials
from tests.factories import ACTOR, NOW

DEMO = sorted((Path(__file__).parents[2] / "apps" / "curriculum" / "demo").glob("*.json"))


def bundle(**sections: Any) -> Source:
    return of_bytes(json.dumps({"format": "lode-curriculum/1", **sections}).encode(), "bundle.json")


def imported(*sources: Source, **given: Any) -> Report:
    return import_curriculum(
        sources=sources, dials=get_dials("hash/hash-128"), actor=ACTOR, now=NOW, run=uuid4(), **given
    )


@pytest.mark.django_db
def test_demo() -> None:
    import time
    sources = [of_bytes(path.read_bytes(), path.name) for path in DEMO if path.stem != "learners"]
    for _ in range(2):
        t=time.time()
        try:
            r = imported(*sources, say=lambda s: print(s, round(time.time()-t,2)))
        except Exception as e:
            for p in e.problems: print(p.place, p.code, p.message)
            raise
        print(r, r.created, r.changed, r.unchanged)
