"""Reading a bundle that is a zip of CSV sheets. Nothing is ever unpacked to a disk."""

import codecs
import csv
import difflib
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any

from apps.curriculum.bundle.cells import restored
from apps.curriculum.bundle.fields import FIELDS, Field
from apps.curriculum.bundle.records import BundleProblem, Kind, Place, RawRecord
from apps.curriculum.bundle.values import END_FIELDS, MAX_TEXT_CHARS

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
SHEETS = {f"{kind}.csv": kind for kind in Kind}
_ENDS = ("source", "target")
_DELIMITERS = ",;\t"
_ENCRYPTED = 0x1
_LINE_BYTES = 1 << 20
_AFTER_RETURN = re.compile(r"(?<=\r)(?!\n)")
# More files, or columns, are not told one by one.
_MANY = 100
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError)

# Python refuses cells over 128 KiB unless told otherwise; it is a setting of the whole process.
csv.field_size_limit(MAX_TEXT_CHARS + 1)


def columns(kind: Kind) -> list[str]:
    """The header of the sheet of one kind: a column for each field, four for each end of an edge."""
    return [column for field in FIELDS[kind] for column in _columns_of(field)]


def _columns_of(field: Field) -> list[str]:
    return [f"{field.name}_{part}" for part in END_FIELDS] if field.name in _ENDS else [field.name]


def read_zip(stream: IO[bytes], file: str) -> Iterator[RawRecord | BundleProblem]:
    """The records of the sheets of an archive, and what is wrong with the archive or a sheet's frame."""
    try:
        with zipfile.ZipFile(stream) as archive:
            problems = [BundleProblem("archive_refused", wrong, "", file) for wrong in _refusals(archive)]
            yield from problems or _sheets(archive)
    except _UNREADABLE as error:
        yield BundleProblem("archive_refused", f"this zip cannot be read ({error}); pack it anew", "", file)


def _refusals(archive: zipfile.ZipFile) -> Iterator[str]:
    """What speaks against reading an archive at all; its directory says it before a byte is unpacked."""
    members = _members(archive)
    names = [member.filename for member in members]
    if len(names) > _MANY:
        yield f"the archive holds {len(names):,} files; a bundle holds {', '.join(SHEETS)}, in no folder"
        return
    yield from _misnamed(names)
    if any(member.flag_bits & _ENCRYPTED for member in members):
        yield "the archive is encrypted; pack it without a password"
    if any(member.compress_type not in _METHODS for member in members):
        yield "the archive is packed by an unusual method; pack it as a plain zip"
    if sum(member.file_size for member in members) > MAX_UNPACKED_BYTES:
        yield f"the archive unpacks to over {MAX_UNPACKED_BYTES >> 20} MiB; split the curriculum"


def _misnamed(names: list[str]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        if name not in SHEETS:
            yield f"there is no sheet {name!r} in a bundle; it holds {', '.join(SHEETS)}, in no folder"
        elif names.count(name) > 1:
            yield f"{name} stands twice in the archive; keep one"
    if not names:
        yield f"the archive is empty; put {', '.join(SHEETS)} into it"


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """All members but what a Mac adds of its own."""
    return [
        member
        for member in archive.infolist()
        if not member.filename.startswith("__MACOSX/") and member.filename != ".DS_Store"
    ]


def _sheets(archive: zipfile.ZipFile) -> Iterator[RawRecord | BundleProblem]:
    present = {member.filename for member in _members(archive)}
    for name, kind in SHEETS.items():
        if name in present:
            with archive.open(name) as sheet:
                yield from read_sheet(sheet, name, kind)


def read_sheet(stream: IO[bytes], file: str, kind: Kind) -> Iterator[RawRecord | BundleProblem]:
    """The records of one CSV sheet. Rows count as in a spreadsheet: the header is row 1."""
    row = 0
    try:
        lines = _lines(stream)
        head = next(lines, "")
        delimiter = max(_DELIMITERS, key=head.count)
        for row, cells in enumerate(csv.reader(_chain(head, lines), delimiter=delimiter, strict=True), 1):
            if row == 1:
                header = [restored(cell).strip() for cell in cells]
                problems = list(_header_problems(header, Place(file, kind, row, in_sheet=True)))
                yield from problems
                if problems:
                    return
            elif any(cells):
                yield _record(cells, header, Place(file, kind, row, in_sheet=True))
    except UnicodeDecodeError:
        message = "this row is no UTF-8; save the sheet as “CSV UTF-8”"
        yield Place(file, kind, row + 1, in_sheet=True).problem("not_utf8", message)
        return
    except csv.Error as error:
        message = f"the cells of this row cannot be told apart ({error}); check its quotation marks"
        yield Place(file, kind, row + 1, in_sheet=True).problem("malformed_csv", message)
    if row == 0:
        place = Place(file, kind, 1, in_sheet=True)
        yield place.problem("required", f"a sheet begins with its header: {', '.join(columns(kind))}")


def _lines(stream: IO[bytes]) -> Iterator[str]:
    """The lines of a sheet with their ends, a lone carriage return too. Raises UnicodeDecodeError at the line that is no UTF-8.

    A text wrapper was rejected: it decodes ahead, and so fails some rows before the one that is wrong.
    """
    utf8 = codecs.getincrementaldecoder("utf-8-sig")()
    while piece := stream.readline(_LINE_BYTES):
        yield from filter(None, _AFTER_RETURN.split(utf8.decode(piece)))
    yield from filter(None, [utf8.decode(b"", final=True)])


def _chain(head: str, rest: Iterable[str]) -> Iterator[str]:
    if head:
        yield head
    yield from rest


def _header_problems(header: list[str], place: Place) -> Iterator[BundleProblem]:
    known = columns(place.kind)
    if len(header) > _MANY:
        words = f"this header has {len(header):,} columns; there are {', '.join(known)}"
        yield place.problem("unknown_field", words)
        return
    for name in dict.fromkeys(header):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            yield place.problem("unknown_field", f"there is no column {name!r}; {hint}", name)
        elif header.count(name) > 1:
            yield place.problem("duplicate_key", f"the column {name!r} stands twice; keep one", name)
    for field in FIELDS[place.kind]:
        if field.needed and not set(_columns_of(field)) & set(header):
            yield place.problem("required", "this column is missing", *_columns_of(field)[:1])


def _record(cells: list[str], header: list[str], place: Place) -> RawRecord | BundleProblem:
    if len(cells) != len(header):
        message = (
            f"this row has {len(cells)} cells where the header has {len(header)}; check its quotation marks"
        )
        return place.problem("malformed_csv", message)
    row = {name: restored(cell) for name, cell in zip(header, cells, strict=True)}
    return RawRecord(
        place, {field.name: _value(field, row) for field in FIELDS[place.kind] if _present(field, row)}
    )


def _present(field: Field, row: dict[str, str]) -> bool:
    return any(column in row for column in _columns_of(field))


def _value(field: Field, row: dict[str, str]) -> Any:
    if field.name not in _ENDS:
        return field.from_cell(row[field.name])
    end = {part: row.get(f"{field.name}_{part}") or None for part in END_FIELDS}
    return end if any(end.values()) else None
