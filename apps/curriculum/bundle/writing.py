"""Writing a bundle, record by record: the same records give the same bytes."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import groupby
from typing import IO, Any

from apps.curriculum.bundle.cells import neutralised
from apps.curriculum.bundle.fields import FIELDS, Field
from apps.curriculum.bundle.records import FORMAT, Kind
from apps.curriculum.bundle.sheets import columns
from apps.curriculum.bundle.values import END_FIELDS

Records = Iterable[tuple[Kind, Mapping[str, Any]]]

# A zip keeps times from 1980 on; a time of writing would make every export another file.
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16
_UNIX = 3
# Spreadsheets take a CSV for the machine's old code page unless it begins with a byte-order mark.
_SHEET_ENCODING = "utf-8-sig"


class Format(StrEnum):
    """The two forms of a bundle."""

    JSON = "json"
    ZIP = "zip"


def write_json(stream: IO[bytes], records: Records) -> None:
    """One JSON document, one record on each line, so that versions of it can be compared."""
    stream.write(f'{{"format": "{FORMAT}"'.encode())
    for kind, found in _by_kind(records):
        stream.write(f',\n"{kind}": ['.encode())
        separator = "\n"
        for record in found:
            stream.write(f"{separator}{json.dumps(record, ensure_ascii=False)}".encode())
            separator = ",\n"
        stream.write(b"\n]")
    stream.write(b"}\n")


def write_zip(stream: IO[bytes], records: Records) -> None:
    """A zip of one CSV sheet for each kind, in the order of the kinds. ``stream`` is seekable."""
    with zipfile.ZipFile(stream, "w") as archive:
        for kind, found in _by_kind(records):
            with archive.open(_member(f"{kind}.csv"), "w") as member:
                _write_sheet(member, kind, found)


WRITERS: dict[Format, Callable[[IO[bytes], Records], None]] = {
    Format.JSON: write_json,
    Format.ZIP: write_zip,
}


def _by_kind(records: Records) -> Iterator[tuple[Kind, Iterator[Mapping[str, Any]]]]:
    """Each kind with its records, which come sorted by kind; a kind without records has none."""
    groups = groupby(records, key=lambda record: record[0])
    group = next(groups, None)
    for kind in Kind:
        if group is not None and group[0] is kind:
            yield kind, (record for _, record in group[1])
            group = next(groups, None)
        else:
            yield kind, iter(())


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, _FIXED_TIME)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system, member.external_attr = _UNIX, _READABLE
    return member


def _write_sheet(stream: IO[bytes], kind: Kind, records: Iterable[Mapping[str, Any]]) -> None:
    with io.TextIOWrapper(stream, encoding=_SHEET_ENCODING, newline="") as text:
        sheet = csv.writer(text)
        sheet.writerow(columns(kind))
        for record in records:
            sheet.writerow([neutralised(cell) for cell in _cells(kind, record)])


def _cells(kind: Kind, record: Mapping[str, Any]) -> Iterator[str]:
    for field in FIELDS[kind]:
        value = record[field.name]
        if isinstance(value, Mapping):
            yield from (value.get(part, "") for part in END_FIELDS)
        else:
            yield _cell(field, value)


def _cell(field: Field, value: Any) -> str:
    return "" if value is None else field.to_cell(value)
