"""Zips of sheets: what is wrong is told with file, row and column, and no archive does harm (curriculum.md)."""

import io
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest

from apps.core.errors import Invalid
from apps.curriculum.bundle import sheets
from apps.curriculum.bundle.cells import join_list, neutralised, restored, split_list
from apps.curriculum.bundle.records import BundleProblem
from apps.curriculum.bundle.sources import of_bytes
from apps.entries.models import Entry
from tests.curriculum.bundles import imported

pytestmark = pytest.mark.django_db

TOPICS = "slug,title\nt,T\n"
CONCEPTS = "slug,title,aliases\na,A,First|Letter\\|one\nb,B,\n"
ENTRIES = "topic,concept,title,instruction\nt,a,A,Say a.\nt,Letter|one,B,Say b.\n"


def zipped(**files: str | bytes) -> bytes:
    return packed({f"{name}.csv": text for name, text in files.items()})


def packed(files: Mapping[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


def refused(made: bytes) -> list[BundleProblem]:
    with pytest.raises(Invalid) as refusal:
        imported(of_bytes(made, "bundle.zip"))
    assert not Entry.objects.exists()
    found = refusal.value.errors
    assert all(isinstance(problem, BundleProblem) for problem in found)
    return found  # type: ignore[return-value]  # as just asserted


def places(made: bytes) -> set[tuple[str, int | None, str, str]]:
    return {(problem.file, problem.row, problem.column, problem.code) for problem in refused(made)}


class TestProblems:
    def test_are_told_with_sheet_row_and_column(self) -> None:
        entries = "topic,concept,title,instruction,scope,confidence\nt,a,A,Say.,public,2\nt,zzz,,Say.,nowhere,x\nu,b,B,,,\n"
        edges = (
            "source_topic,source_concept,target_topic,target_concept,type\nt,a,t,a,related\nt,a,,b,likes\n"
        )
        assert places(zipped(topics=TOPICS, concepts=CONCEPTS, entries=entries, edges=edges)) >= {
            ("entries.csv", 2, "confidence", "out_of_range"),
            ("entries.csv", 3, "confidence", "invalid"),
            ("entries.csv", 3, "scope", "invalid_scope"),
            ("entries.csv", 4, "topic", "unknown_topic"),
            ("entries.csv", 4, "instruction", "blank"),
            ("edges.csv", 2, "target", "self_edge"),
            ("edges.csv", 3, "target_topic", "required"),
            ("edges.csv", 3, "type", "invalid_choice"),
        }

    def test_of_rows_count_as_a_spreadsheet_does(self) -> None:
        entries = 'topic,concept,title,instruction\n,,,\nt,a,"two\nlines",Say.\nt,zzz,T,Say.\n'
        (problem,) = refused(zipped(topics=TOPICS, concepts=CONCEPTS, entries=entries))
        assert (problem.row, problem.place) == (4, "entries.csv row 4, column concept")

    @pytest.mark.parametrize(
        ("sheet", "place"),
        [
            ("slug,titel\nt,T\n", ("topics.csv", 1, "titel", "unknown_field")),
            ("slug,title,slug\nt,T,t\n", ("topics.csv", 1, "slug", "duplicate_key")),
            ("title\nT\n", ("topics.csv", 1, "slug", "required")),
            ("", ("topics.csv", 1, "", "required")),
            ("slug,title\nt,T,more\n", ("topics.csv", 2, "", "malformed_csv")),
            ('slug,title\nt,T\nu,"U\n', ("topics.csv", 3, "", "malformed_csv")),
            ("slug,title\nt,T\0\n", ("topics.csv", 2, "title", "null_character")),
            ("slug,title\nt,é\n".encode("latin-1"), ("topics.csv", 2, "", "not_utf8")),
            ("slug,title\n" + "t" + ",T" * 200, ("topics.csv", 2, "", "malformed_csv")),
            ("slug" + ",title" * 200 + "\n", ("topics.csv", 1, "", "unknown_field")),
        ],
    )
    def test_of_a_sheets_frame(self, sheet: str | bytes, place: tuple[Any, ...]) -> None:
        assert place in places(zipped(topics=sheet))


class TestSheets:
    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text,
            lambda text: "\ufeff" + text,
            lambda text: text.replace("\n", "\r\n"),
            lambda text: text.replace("\n", "\r"),
            lambda text: text.replace(",", ";"),
            lambda text: text.replace(",", "\t"),
            lambda text: text + "\n\n",
            lambda text: text.replace("concept", " concept ") if "instruction" in text else text,
        ],
    )
    def test_come_as_spreadsheets_write_them(self, change: Any) -> None:
        sheets = {"topics": TOPICS, "concepts": CONCEPTS, "entries": ENTRIES}
        made = zipped(**{name: change(text) for name, text in sheets.items()})
        with pytest.raises(Invalid) as refusal:
            imported(of_bytes(made, "bundle.zip"))
        (problem,) = refusal.value.errors
        assert (problem.code, problem.pointer) == ("duplicate", "/entries.csv/3/concept")

    def test_may_be_left_out_and_follow_one_another(self) -> None:
        imported(of_bytes(zipped(topics=TOPICS, concepts=CONCEPTS), "a.zip"))
        entries = ENTRIES.replace("Letter|one", "b")
        assert imported(of_bytes(zipped(entries=entries), "b.zip")).created == 2

    @pytest.mark.parametrize("items", [["a|b", "\\"], ["a\\", "|"], ["\\\\|"], ["a", "b"], []])
    def test_lists_come_back_as_they_were(self, items: list[str]) -> None:
        assert split_list(join_list(items)) == items

    @pytest.mark.parametrize("text", ["=1", "'=1", "''=1", "a=1", "'a", "", "'", "\t", "＝1"])
    def test_cells_come_back_as_they_were(self, text: str) -> None:
        assert restored(neutralised(text)) == text
        assert not neutralised(text).startswith(("=", "\t", "＝"))


class TestArchives:
    @pytest.mark.parametrize(
        "name", ["../topics.csv", "/etc/topics.csv", "folder/topics.csv", "topics.csv.exe", "Topics.csv", "..\\topics.csv"]
    )  # fmt: skip
    def test_with_other_files_are_refused(self, name: str) -> None:
        ((_, _, _, code),) = places(packed({name: TOPICS}))
        assert code == "archive_refused"

    def test_what_a_mac_adds_is_passed_over(self) -> None:
        made = packed({"topics.csv": TOPICS, "__MACOSX/._topics.csv": b"\0", ".DS_Store": b"\0"})
        assert imported(of_bytes(made, "bundle.zip")).created == 1

    def test_with_a_sheet_twice(self) -> None:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("topics.csv", TOPICS)
            with pytest.warns(UserWarning, match="Duplicate name"):
                archive.writestr("topics.csv", TOPICS)
        (problem,) = refused(stream.getvalue())
        assert "stands twice" in problem.message

    def test_that_are_empty_torn_or_damaged(self) -> None:
        whole = zipped(topics=TOPICS * 50)
        damaged = whole[:40] + b"\xff" * 8 + whole[48:]
        for made in (packed({}), whole[:60], whole[:-10], damaged):
            assert {problem.code for problem in refused(made)} == {"archive_refused"}

    def test_that_unpack_to_too_much_are_refused_unread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sheets, "MAX_UNPACKED_BYTES", 1 << 20)
        made = zipped(topics="slug,title\n" + "a" * (2 << 20))
        assert len(made) < 10_000
        (problem,) = refused(made)
        assert "unpacks to over 1 MiB" in problem.message

    def test_that_lie_about_their_size_are_read_no_further_than_they_say(self) -> None:
        made = bytearray(zipped(topics="slug,title\nt,T\n" + "a,b\n" * 100_000))
        at = made.rindex(b"PK\x01\x02")
        made[at + 24 : at + 28] = struct.pack("<I", 15)
        assert {problem.code for problem in refused(bytes(made))} == {"archive_refused"}

    def test_of_very_many_files_are_told_once(self) -> None:
        (problem,) = refused(packed({f"{number}.csv": "" for number in range(5000)}))
        assert "5,000 files" in problem.message

    def test_that_are_encrypted_or_packed_unusually(self) -> None:
        encrypted = bytearray(zipped(topics=TOPICS))
        for begin, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            encrypted[encrypted.index(begin) + offset] |= 1
        (problem,) = refused(bytes(encrypted))
        assert "without a password" in problem.message
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("topics.csv", TOPICS)
        (problem,) = refused(stream.getvalue())
        assert "unusual method" in problem.message
