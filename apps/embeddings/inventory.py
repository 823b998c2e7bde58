"""What there is to embed at one moment, from one read of the database: what a rebuild embeds, and may write down."""

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from django.db import connection, transaction

from apps.embeddings.models import EmbeddingSpace
from apps.embeddings.sources import Owner, sources


@dataclass(frozen=True, slots=True)
class Inventory:
    """Every text's owner and hash by kind, with the space that is rebuilt and all spaces there are."""

    read_at: dt.datetime
    space: EmbeddingSpace
    spaces: list[EmbeddingSpace]
    vectors: dict[int, dict[str, int]]
    texts: dict[str, list[tuple[Owner, str]]]

    @classmethod
    def read(cls, space: EmbeddingSpace, *, now: dt.datetime) -> Self:
        """All of it as of one snapshot of the database. Cannot run inside a transaction."""
        with transaction.atomic(durable=True):
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            spaces = list(EmbeddingSpace.objects.order_by("pk"))
            vectors = {
                found.pk: {
                    kind.kind: kind.vectors._default_manager.filter(space=found).count() for kind in sources()
                }
                for found in spaces
            }
            texts = {kind.kind: list(kind.identities()) for kind in sources()}
        return cls(read_at=now, space=space, spaces=spaces, vectors=vectors, texts=texts)

    def write(self, path: Path) -> None:
        """Write it to ``path`` as JSON: whole, or not at all."""
        draft = path.with_name(f".{path.name}.draft")
        draft.write_text(json.dumps(self.as_json(), indent=1) + "\n", encoding="utf-8")
        draft.replace(path)

    def as_json(self) -> dict[str, Any]:
        """The snapshot: ``texts`` holds [id, SHA-256] by kind, ``counts`` how many of each."""
        return {
            "read_at": self.read_at.isoformat(),
            "space": self.space.name,
            "spaces": [self._space(space) for space in self.spaces],
            "counts": {kind: len(texts) for kind, texts in self.texts.items()},
            "texts": {
                kind: [[str(owner), text_hash] for owner, text_hash in texts]
                for kind, texts in self.texts.items()
            },
        }

    def _space(self, space: EmbeddingSpace) -> dict[str, Any]:
        return {
            "name": space.name,
            "dimensions": space.dimensions,
            "state": space.state,
            "vectors": self.vectors[space.pk],
        }
