"""Curricula of other shapes: what cannot resolve is left out and listed, and the rest imports whole."""

import json
import re
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from apps.core.invariants import findings
from apps.curriculum.converting import metacademy
from apps.edges.models import Edge
from apps.entries.models import Entry
from tests import real_data
from tests.curriculum.bundles import imported

pytestmark = pytest.mark.django_db


def concept(tag: str, **given: Any) -> dict[str, Any]:
    texts = {"summary": f"About {tag}.", "goals": "", "questions": ""}
    return {"tag": tag, "id": f"id-{tag}", "title": tag.title(), **texts, **given}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    needs = [
        {"dependent": "b_c", "prereq": "a", "reason": "it builds on it"},
        {"dependent": "a", "prereq": "nowhere", "reason": ""},
        {"dependent": "b-c", "prereq": "empty", "reason": ""},
    ]
    links = [
        {"src": "a", "dst": "b-c", "line": '* see "bc":b-c'},
        {"src": "a", "dst": "b_c", "line": "again"},
        {"src": "a", "dst": "a", "line": "itself"},
    ]
    concepts = [
        concept("EXAMPLE", id=""),
        concept("a", goals="* Know a", questions="Why a?"),
        concept("b_c", summary="", goals="* Know b"),
        concept("b-c"),
        concept("empty", summary=" "),
    ]
    for name, rows in {"concepts": concepts, "prereq_edges": needs, "see_also": links}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    return tmp_path


def _unknown(why: str) -> list[str]:
    return re.findall("no concept '([^']*)'", why)


class TestMetacademy:
    def test_says_what_it_leaves_out_and_why(self, folder: Path) -> None:
        left = {(left.what, left.why) for left in metacademy.convert(folder).left_out}
        assert left == {
            ("concept EXAMPLE", "it has no id: the example of the format"),
            ("concept b-c", "its tag gives no slug of its own"),
            ("entry empty", "it has neither a summary nor goals"),
            ("prerequisite a -> nowhere", "there is no concept 'nowhere'"),
            ("prerequisite b-c -> empty", "nothing teaches 'empty'"),
            ("related a -> b_c", "it stands there already"),
            ("related a -> a", "it joins a concept to itself"),
        }

    def test_imports_what_is_left_by_the_command(self, folder: Path) -> None:
        output = StringIO()
        call_command("import_curriculum", "--from", "metacademy", str(folder), stdout=output)
        assert "left out: 7" in output.getvalue()
        texts = Entry.objects.values_list("concept_slug", "instruction", "detail").order_by("concept_slug")
        assert list(texts) == [("a", "About a.", "* Know a\n\nWhy a?"), ("b-c", "* Know b", "")]
        found = Edge.objects.values_list("edge_type", "source__concept_slug", "rationale").order_by(
            "edge_type"
        )
        assert list(found) == [("prerequisite", "b-c", "it builds on it"), ("related", "a", 'see "bc":b-c')]

    def test_a_dry_run_writes_nothing(self, folder: Path) -> None:
        call_command("import_curriculum", "--from", "metacademy", str(folder), "--dry-run", stdout=StringIO())
        assert not Entry.objects.exists()

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (None, "cannot be read"),
            ("{", "is no JSON"),
            ("{}", "is no list"),
            ("[1]", "record 0 has no text 'tag'"),
            ('[{"tag": null}]', "record 0 has no text 'tag'"),
        ],
    )
    def test_a_folder_of_another_shape_is_refused(self, folder: Path, text: str | None, said: str) -> None:
        file = folder / "concepts.json"
        file.unlink() if text is None else file.write_text(text)
        with pytest.raises(CommandError, match=said):
            call_command("import_curriculum", "--from", "metacademy", str(folder))

    def test_itself_imports_whole(self) -> None:
        real_data.load("metacademy/concepts.json")
        conversion = metacademy.convert(settings.LODE_DATA_DIR / "metacademy")
        kinds = {kind: len(rows) for kind, rows in conversion.lists.items()}
        left = Counter(left.what.partition(" ")[0] for left in conversion.left_out)
        assert kinds == {"topics": 1, "concepts": 392, "entries": 362, "edges": 1374}
        assert left == {"concept": 1, "entry": 30, "prerequisite": 96, "related": 409}
        unknown = [name for left in conversion.left_out if left.what[0] == "p" for name in _unknown(left.why)]
        assert len(unknown) == 23, "of 359 tags in another spelling, 20 are none; three are the example's"
        assert unknown.count("ANNOTATED_EXAMPLE") == 3
        assert imported(conversion.source("metacademy")).created == sum(kinds.values())
        assert list(findings()) == []
        again = imported(conversion.source("metacademy"))
        assert (again.created, again.changed) == (0, 0)
