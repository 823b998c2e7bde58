"""Where a bundle comes from: a file, or the body of a request. JSON and zip are told apart by their first bytes."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from apps.curriculum.bundle.json_files import read_json
from apps.curriculum.bundle.records import BundleProblem, RawRecord
from apps.curriculum.bundle.sheets import read_zip

_ZIP_BEGINS = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True, slots=True)
class Source:
    """One bundle that can be read from its beginning as often as needed. ``name`` stands in problems.

    ``open`` gives a seekable stream of bytes.
    """

    name: str
    open: Callable[[], IO[bytes]]

    def records(self) -> Iterator[RawRecord | BundleProblem]:
        """Everything that the bundle says, and everything that is wrong with its frame."""
        with self.open() as stream:
            begin = stream.read(len(_ZIP_BEGINS[0]))
            stream.seek(0)
            read = read_zip if begin in _ZIP_BEGINS else read_json
            yield from read(stream, self.name)


def of_bytes(body: bytes, name: str) -> Source:
    """The bundle in memory."""
    return Source(name, lambda: io.BytesIO(body))
