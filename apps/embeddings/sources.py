"""Which texts have vectors. Each app above says it of its own, in a module ``texts``.

This app stands below entries and concepts and knows neither: a source tells it whose texts there are,
in which table their vectors stand, and which rows a vector index may hold.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db import transaction
from django.db.models import CharField, Exists, Func, OuterRef, QuerySet

from apps.embeddings.models import AbstractVector, EmbeddingSpace

Owner = UUID | str | int
"""The primary key of whose text it is; a UUID may come as the text that JSON holds."""

Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class Text:
    """One text that must have vectors: whose it is, what it says, and its SHA-256."""

    owner: Owner
    content: str
    text_hash: str


class TextHash(Func):
    """The SHA-256 of a text column, as 64 hex digits: what ``apps.rules.text.text_hash`` computes."""

    template = "encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')"
    output_field = CharField()


class TextSource(ABC):
    """All texts of one kind, and the vectors of each.

    ``owner_field`` names the vector table's key to the owner, ``copied`` the columns of the owner that
    a vector repeats, and ``indexed`` the parts of the table that have a vector index of their own: the
    part's name and its condition in SQL ("" and "" for the whole).
    """

    kind: ClassVar[str]
    vectors: ClassVar[type[AbstractVector]]
    owner_field: ClassVar[str]
    copied: ClassVar[Sequence[str]] = ()
    indexed: ClassVar[Mapping[str, str]] = {"": ""}

    @abstractmethod
    def texts(self) -> "QuerySet[Any]":
        """The owners that must have vectors, with the annotations ``content`` and ``content_hash``."""

    def missing(self, space: EmbeddingSpace) -> "QuerySet[Any]":
        """Those of ``texts`` without a current vector in ``space``, or with one older than its rebuilding."""
        return self.texts().filter(~Exists(self._current(space)))

    def missing_owners(self, space: EmbeddingSpace, *, after: Owner | None, limit: int) -> list[Owner]:
        """The first ``limit`` owners of ``missing``, in order, after one of them.

        However few they are, this reads the hashes of all texts: ask for many at once.
        """
        found = self.missing(space).order_by("pk")
        if after is not None:
            found = found.filter(pk__gt=after)
        return list(found.values_list("pk", flat=True)[:limit])

    def read(self, space: EmbeddingSpace, owners: Collection[Owner]) -> list[Text]:
        """The texts of those ``owners`` that lack a current vector, in order."""
        found = self.missing(space).filter(pk__in=owners).order_by("pk")
        return [Text(*row) for row in found.values_list("pk", "content", "content_hash")]

    def identities(self) -> Iterator[tuple[Owner, str]]:
        """Every owner with the hash of its text, in order."""
        rows = self.texts().order_by("pk").values_list("pk", "content_hash")
        yield from rows.iterator(chunk_size=10_000)

    def known(self, space: EmbeddingSpace, hashes: Collection[str]) -> dict[str, list[Vector]]:
        """The vectors, chunk by chunk, of texts with these hashes that were embedded in ``space`` before."""
        rows = self._valid(space).filter(text_hash__in=hashes)
        owners: dict[str, Owner] = {}
        found: dict[str, list[Vector]] = {}
        columns = ("text_hash", f"{self.owner_field}_id", "embedding")
        for text_hash, owner, embedding in rows.order_by(*columns[:2], "chunk").values_list(*columns):
            if owners.setdefault(text_hash, owner) == owner:
                found.setdefault(text_hash, []).append(embedding)
        return found

    def store(
        self, space: EmbeddingSpace, made: Mapping[Owner, tuple[str, Sequence[Vector]]], *, now: datetime
    ) -> int:
        """Replace the vectors of these owners, each given with its text's hash; how many owners it did.

        An owner whose text has changed since, that is gone, or that another transaction is changing is
        left out and stays missing: nobody is waited for while locks are held, so nobody deadlocks.
        """
        with transaction.atomic():
            held = self._hold(made)
            stale = {"space": space, f"{self.owner_field}__in": list(held)}
            self.vectors._default_manager.filter(**stale).delete()
            rows = [
                row for owner, copied in held.items() for row in self._rows(space, owner, copied, made, now)
            ]
            self.vectors._default_manager.bulk_create(rows)
        return len(held)

    def _current(self, space: EmbeddingSpace) -> "QuerySet[Any]":
        return self._valid(space).filter(
            **{self.owner_field: OuterRef("pk")}, text_hash=OuterRef("content_hash")
        )

    def _valid(self, space: EmbeddingSpace) -> "QuerySet[Any]":
        vectors = self.vectors._default_manager.filter(space=space)
        since = space.rebuilding_since
        return vectors.filter(created_at__gte=since) if since else vectors

    def _hold(self, made: Mapping[Owner, tuple[str, Sequence[Vector]]]) -> dict[Owner, dict[str, Any]]:
        owners = self.texts().filter(pk__in=list(made)).order_by("pk")
        rows = owners.select_for_update(of=("self",), no_key=True, skip_locked=True)
        return {
            row["pk"]: {name: row[name] for name in self.copied}
            for row in rows.values("pk", "content_hash", *self.copied)
            if row["content_hash"] == made[row["pk"]][0]
        }

    def _rows(
        self,
        space: EmbeddingSpace,
        owner: Owner,
        copied: Mapping[str, Any],
        made: Mapping[Owner, tuple[str, Sequence[Vector]]],
        now: datetime,
    ) -> Iterator[AbstractVector]:
        text_hash, vectors = made[owner]
        for chunk, embedding in enumerate(vectors):
            yield self.vectors(
                **{f"{self.owner_field}_id": owner},
                **copied,
                space=space,
                dimensions=space.dimensions,
                chunk=chunk,
                text_hash=text_hash,
                embedding=embedding,
                created_at=now,
            )


_sources: dict[str, TextSource] = {}


def register(source: TextSource) -> None:
    """Make a source known; its kind is taken once."""
    if source.kind in _sources:
        raise ValueError(f"two sources of texts are called {source.kind!r}")
    _sources[source.kind] = source


def sources() -> tuple[TextSource, ...]:
    """Every source of texts."""
    return tuple(_sources.values())


def source(kind: str) -> TextSource:
    """The source of that kind."""
    return _sources[kind]
