"""A curriculum of any size, made fast and the same for every seed: what the measurements run on.

Texts are real sentences (OpenBookQA and WorldTree, under ``LODE_DATA_DIR``), and every vector is the
real embedding of one of them. Where a corpus holds more rows than there are sentences, further rows of a
sentence are jittered: pulled towards the embedding of another sentence, so that copies lie among real
texts and not in the empty space around them.

Rows are written by COPY, with triggers off: no audit and no ledger, and so no database to keep.
"""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]

MADE_AT = datetime(2026, 1, 1, tzinfo=UTC)
_MATURITIES = ("proven", "pattern", "candidate")
_MATURITY_SHARES = (0.2, 0.4, 0.4)
_EDGE_TYPES = ("prerequisite", "fallback", "leads_to", "related", "supersedes")
_EDGE_SHARES = (0.3, 0.2, 0.25, 0.2, 0.05)
_BATCH = 20_000
TABLES = (
    "embeddings_embeddingspace", "catalog_topic", "catalog_concept", "catalog_conceptname", "tutoring_learner",
    "entries_entry", "entries_entryvector", "edges_edge", "tutoring_tutoringsession", "tutoring_turn",
)  # fmt: skip
"""The tables that are filled, the referenced before those that refer to them."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much of everything; ``edges`` join entries of one topic. The default holds 100,000 entries."""

    topics: int = 500
    public_per_topic: int = 140
    tutor: int = 10_000
    learners: int = 2_000
    patterns_per_learner: int = 10
    edges: int = 300_000

    @property
    def public(self) -> int:
        return self.topics * self.public_per_topic

    @property
    def entries(self) -> int:
        return self.public + self.tutor + self.learners * self.patterns_per_learner

    @property
    def concepts(self) -> int:
        """About three topics and a half share a concept."""
        return max(self.public_per_topic, self.public * 2 // 7)

    def times(self, factor: float) -> "Size":
        """The same corpus with ``factor`` times the topics, tutor rows, learners and edges."""
        return Size(
            topics=round(self.topics * factor),
            public_per_topic=self.public_per_topic,
            tutor=round(self.tutor * factor),
            learners=round(self.learners * factor),
            patterns_per_learner=self.patterns_per_learner,
            edges=round(self.edges * factor),
        )


@dataclass(frozen=True)
class Texts:
    """Real sentences with their embeddings, one of each, in one order; ``space`` is their model's name."""

    space: str
    sentences: list[str]
    vectors: Vectors

    @property
    def provider(self) -> str:
        return self.space.partition("/")[0]

    @property
    def model(self) -> str:
        return self.space.partition("/")[2]


def sentences(data_dir: Path) -> list[str]:
    """The distinct facts of OpenBookQA and WorldTree, about 11,000. FileNotFoundError where they are not."""
    plain = [json.loads((data_dir / "openbookqa" / name).read_text()) for name in _FACT_FILES]
    tables = json.loads((data_dir / "worldtree" / "facts.json").read_text())
    return list(dict.fromkeys([*itertools.chain(*plain), *(row["text"] for row in tables)]))


_FACT_FILES = ("facts.json", "crowd_facts.json")


def questions(data_dir: Path) -> list[str]:
    """The distinct questions of OpenBookQA: what a learner might ask, none of it in the corpus."""
    lines = (data_dir / "openbookqa" / "questions.jsonl").read_text().splitlines()
    return list(dict.fromkeys(json.loads(line)["question"] for line in lines))


def embedded(texts: Sequence[str], *, space: str, embed: Embed, cache_dir: Path) -> Texts:
    """``texts`` with their vectors, embedded once and kept in ``cache_dir`` under a hash of both."""
    key = hashlib.sha256("\0".join([space, *texts]).encode()).hexdigest()[:16]
    path = cache_dir / f"embedded-{key}.npy"
    if not path.exists():
        cache_dir.mkdir(parents=True, exist_ok=True)
        np.save(path, embed(texts))
    return Texts(space, list(texts), np.load(path))


def fill(
    connection: psycopg.Connection[Any], *, size: Size, texts: Texts, seed: int = 1, analyzed: bool = True
) -> int:
    """Fill an empty, migrated database; returns the id of the serving space. Commits.

    The vector indexes are not built: ``apps.embeddings.indexes`` makes those of a space. ``analyzed`` False
    leaves the planner without statistics, as it is just after an import.
    """
    register_vector(connection)
    _switch_triggers(connection, "DISABLE")
    try:
        space = _write_space(connection, texts)
        _Filler(connection, size, texts, space, np.random.default_rng(seed)).fill()
        connection.commit()  # foreign keys are checked here, and a table with checks to come cannot be altered
    finally:
        connection.rollback()
        _switch_triggers(connection, "ENABLE")
        connection.commit()
    if analyzed:
        analyze(connection)
    return space


def analyze(connection: psycopg.Connection[Any]) -> None:
    """Let PostgreSQL know what was filled in, as it would find out by itself within a minute or two."""
    connection.autocommit = True
    connection.execute(f"VACUUM ANALYZE {', '.join(TABLES)}")
    connection.autocommit = False


def _switch_triggers(connection: psycopg.Connection[Any], switch: str) -> None:
    for table in TABLES:
        connection.execute(f"ALTER TABLE {table} {switch} TRIGGER USER")


def _write_space(connection: psycopg.Connection[Any], texts: Texts) -> int:
    row = connection.execute(
        "INSERT INTO embeddings_embeddingspace (provider, model, dimensions, state, created_at, served_at) "
        "VALUES (%s, %s, %s, 'serving', %s, %s) RETURNING id",
        (texts.provider, texts.model, texts.vectors.shape[1], MADE_AT, MADE_AT),
    ).fetchone()
    assert row is not None
    return int(row[0])


def entry_id(number: int) -> UUID:
    """The id of the entry ``number``: version 7, in order."""
    return UUID(int=(0x019B_0000_0000 + number) << 80 | 0x7000 << 64 | 0x8000 << 48 | number)


@dataclass
class _Filler:
    connection: psycopg.Connection[Any]
    size: Size
    texts: Texts
    space: int
    random: np.random.Generator

    def fill(self) -> None:
        self._write_names()
        self._write_entries()
        self._write_edges()
        self._write_sessions()
        for table in TABLES[1:]:
            self._continue_sequence(table)

    def _continue_sequence(self, table: str) -> None:
        """Let rows that are made later have ids of their own."""
        self.connection.execute(
            "SELECT setval(name, 10_000_000) FROM pg_get_serial_sequence(%s, 'id') AS name WHERE name IS NOT NULL",
            (table,),
        )

    def _write_names(self) -> None:
        topics = (
            (n, f"topic-{n}", f"Topic {n}", "", MADE_AT, MADE_AT, 1) for n in range(1, self.size.topics + 1)
        )
        self._copy("catalog_topic", _TOPIC, topics)
        concepts = range(1, self.size.concepts + 1)
        rows = ((n, f"concept-{n}", f"Concept {n}", "", "approved", MADE_AT, MADE_AT, 1) for n in concepts)
        self._copy("catalog_concept", _CONCEPT, rows)
        names = ((n, n, f"concept-{n}", f"Concept {n}", True) for n in concepts)
        self._copy("catalog_conceptname", _NAME, names)
        learners = ((n, f"learner-{n}", MADE_AT) for n in range(1, self.size.learners + 1))
        self._copy("tutoring_learner", _LEARNER, learners)

    def _write_entries(self) -> None:
        for first in range(0, self.size.entries, _BATCH):
            numbers = range(first, min(first + _BATCH, self.size.entries))
            bases = [number % len(self.texts.sentences) for number in numbers]
            self._copy("entries_entry", _ENTRY, self._entries(numbers, bases))
            self._copy("entries_entryvector", _VECTOR, self._vectors(numbers, bases))

    def _entries(self, numbers: range, bases: list[int]) -> Iterator[tuple[Any, ...]]:
        maturities = self.random.choice(_MATURITIES, size=len(numbers), p=_MATURITY_SHARES)
        confidences = self.random.uniform(0.25, 0.95, size=len(numbers))
        for number, base, maturity, confidence in zip(numbers, bases, maturities, confidences, strict=True):
            scope, topic, slug = self._place(number)
            text = self.texts.sentences[base]
            yield (
                entry_id(number), topic, slug, scope, text[:60], text, "", _hash(text), str(maturity),
                Decimal(round(confidence * 1_000_000)) / 1_000_000, "seed", "system", "exact", Decimal(1),
                0, 0, 0, MADE_AT, MADE_AT, MADE_AT, 1,
            )  # fmt: skip

    def _place(self, number: int) -> tuple[str, int | None, str]:
        """Scope, topic and concept: public rows first, topic by topic, then tutor moves, then patterns."""
        if number < self.size.public:
            topic, within = divmod(number, self.size.public_per_topic)
            return "public", topic + 1, f"concept-{(topic * 41 + within) % self.size.concepts + 1}"
        number -= self.size.public
        if number < self.size.tutor:
            return "tutor", number % self.size.topics + 1, f"move-{number}"
        learner, within = divmod(number - self.size.tutor, self.size.patterns_per_learner)
        return f"student:learner-{learner + 1}", None, f"pattern-{within}"

    def _vectors(self, numbers: range, bases: list[int]) -> Iterator[tuple[Any, ...]]:
        vectors = self._jittered(numbers, bases)
        dimensions = vectors.shape[1]
        for number, base, vector in zip(numbers, bases, vectors, strict=True):
            text_hash = _hash(self.texts.sentences[base])
            scope = self._place(number)[0]
            yield number + 1, self.space, dimensions, 0, text_hash, vector, MADE_AT, scope, entry_id(number)

    def _jittered(self, numbers: range, bases: list[int]) -> Vectors:
        """The embeddings of ``bases``; after the first copy of each, pulled towards another sentence."""
        count = len(self.texts.sentences)
        own = self.texts.vectors[bases]
        other = self.texts.vectors[self.random.integers(count, size=len(bases))]
        pull = self.random.uniform(0.2, 0.6, size=(len(bases), 1))
        pull[np.array([self._is_first_copy(number) for number in numbers])] = 0
        mixed = own + pull * other
        unit: Vectors = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _is_first_copy(self, number: int) -> bool:
        """Whether no earlier row of its scope has its sentence: a scope begins with real embeddings."""
        first = self.size.public if number >= self.size.public else 0
        return number - first < len(self.texts.sentences)

    def _write_edges(self) -> None:
        per_topic = self.size.edges // self.size.topics
        pairs = ((topic, *pair) for topic in range(self.size.topics) for pair in self._pairs(per_topic))
        kinds = self.random.choice(len(_EDGE_TYPES), size=self.size.edges, p=_EDGE_SHARES)
        confidences = self.random.uniform(0.1, 0.95, size=self.size.edges)
        self._copy("edges_edge", _EDGE, (
            (
                number + 1, entry_id(first + source), entry_id(first + target), _EDGE_TYPES[kind], "seed",
                Decimal(round(confidence * 1_000_000)) / 1_000_000, "still unsure", "", 0, 0, 0,
                MADE_AT, MADE_AT, 1,
            )
            for number, ((topic, source, target), kind, confidence) in enumerate(
                zip(pairs, kinds, confidences, strict=False)
            )
            for first in (topic * self.size.public_per_topic,)
        ))  # fmt: skip

    def _pairs(self, count: int) -> list[tuple[int, int]]:
        """``count`` distinct pairs of different rows of one topic."""
        rows = self.size.public_per_topic
        codes = self.random.choice(rows * (rows - 1), size=min(count, rows * (rows - 1)), replace=False)
        sources, steps = codes // (rows - 1), codes % (rows - 1) + 1
        return list(zip(sources.tolist(), ((sources + steps) % rows).tolist(), strict=True))

    def _write_sessions(self) -> None:
        """One open session of three turns for every learner."""
        learners = range(1, self.size.learners + 1)
        sessions = (
            (session_id(n), n, (n - 1) % self.size.topics + 1, "beginner", "open", MADE_AT) for n in learners
        )
        self._copy("tutoring_tutoringsession", _SESSION, sessions)
        turns = ((n, turn) for n in learners for turn in range(1, 4))
        self._copy("tutoring_turn", _TURN, (
            (
                session_id(n), turn, "I do not see why.", "Look again.", [self._place_of_turn(n, turn)],
                Decimal(1), "[]", "[]", MADE_AT + timedelta(minutes=turn),
            )
            for n, turn in turns
        ))  # fmt: skip

    def _place_of_turn(self, learner: int, turn: int) -> str:
        topic = (learner - 1) % self.size.topics
        return self._place(topic * self.size.public_per_topic + turn)[2]

    def _copy(self, table: str, columns: dict[str, str], rows: Iterable[tuple[Any, ...]]) -> None:
        statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types(list(columns.values()))
            for row in rows:
                copy.write_row(row)


def session_id(learner: int) -> UUID:
    """The session of learner number ``learner``."""
    return UUID(int=(0x019B_1000_0000 + learner) << 80 | 0x7000 << 64 | 0x8000 << 48 | learner)


def _hash(text: str) -> str:
    return hashlib.sha256("\n".join([text[:60], text, ""]).encode()).hexdigest()


_TIMES = {"created_at": "timestamptz", "updated_at": "timestamptz", "version": "int4"}
_TOPIC = {"id": "int8", "slug": "varchar", "title": "varchar", "description": "text", **_TIMES}
_CONCEPT = {
    "id": "int8",
    "slug": "varchar",
    "title": "varchar",
    "definition": "text",
    "status": "varchar",
    **_TIMES,
}
_NAME = {"id": "int8", "concept_id": "int8", "slug": "varchar", "name": "varchar", "is_canonical": "bool"}
_LEARNER = {"id": "int8", "external_id": "varchar", "created_at": "timestamptz"}
_ENTRY = {
    "id": "uuid", "topic_id": "int8", "concept_slug": "varchar", "visibility_scope": "varchar",
    "title": "varchar", "instruction": "text", "detail": "text", "text_hash": "varchar",
    "maturity": "varchar", "confidence": "numeric", "source_type": "varchar", "source": "varchar",
    "ladder_step": "varchar", "concept_match_quality": "numeric", "success_count": "int4",
    "failure_count": "int4", "match_count": "int4", "observed_at": "timestamptz", **_TIMES,
}  # fmt: skip
_VECTOR = {
    "id": "int8", "space_id": "int8", "dimensions": "int4", "chunk": "int4", "text_hash": "varchar",
    "embedding": "vector", "created_at": "timestamptz", "visibility_scope": "varchar", "entry_id": "uuid",
}  # fmt: skip
_EDGE = {
    "id": "int8", "source_id": "uuid", "target_id": "uuid", "edge_type": "varchar", "source_type": "varchar",
    "confidence": "numeric", "condition": "text", "rationale": "text", "hit_count": "int4",
    "rendered_count": "int4", "walked_count": "int4", **_TIMES,
}  # fmt: skip
_SESSION = {
    "id": "uuid", "learner_id": "int8", "topic_id": "int8", "level": "varchar", "state": "varchar",
    "started_at": "timestamptz",
}  # fmt: skip
_TURN = {
    "session_id": "uuid", "number": "int4", "student_message": "text", "tutor_message": "text",
    "concepts": "varchar[]", "strength": "numeric", "struggles": "jsonb", "observations": "jsonb",
    "created_at": "timestamptz",
}  # fmt: skip
