"""Real questions with the texts that answer them, as other people labelled them (under ``LODE_DATA_DIR``).

A document stands for an entry and a message for a student's. The labels are a lower bound: a text that
answers as well as the labelled one counts as wrong.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.rules.text import document_text

_LESSON_CODE = re.compile(r"^[\dA-Z]+\.[\dA-Z]+\.\s*")
_GOAL = re.compile(r"^\*+\s*(\S.{14,})$", re.MULTILINE)
_CHOICE = re.compile(r"\s*\(([A-E1-5])\)\s*")


@dataclass(frozen=True, slots=True)
class Question:
    """A student's message in a topic, and the places of the documents that answer it."""

    topic: str
    message: str
    right: frozenset[int]


@dataclass(frozen=True, slots=True)
class Labelled:
    """One set: the texts of its documents as entries, and questions of which each has at least one right document."""

    name: str
    documents: list[str]
    questions: list[Question]


def openbookqa(folder: Path) -> Labelled:
    """Elementary science: a question completed by its answer, and the one fact behind it."""
    facts = [*_json(folder / "facts.json"), *_json(folder / "crowd_facts.json")]
    place = {fact: number for number, fact in enumerate(dict.fromkeys(facts))}
    rows = [row for row in _lines(folder / "questions.jsonl") if row["fact"] in place]
    questions = [
        Question(
            "Elementary science",
            f"{row['question']} {row['choices'][row['answer']]}",
            frozenset({place[row["fact"]]}),
        )
        for row in rows
    ]
    return Labelled("openbookqa", [_document("", fact) for fact in place], questions)


def worldtree(folder: Path) -> Labelled:
    """Science examinations: a question with its answer, and the facts that are central to its explanation."""
    facts = _json(folder / "facts.json")
    place = {text: number for number, text in enumerate(dict.fromkeys(fact["text"] for fact in facts))}
    places = {fact["uid"]: place[fact["text"]] for fact in facts}
    questions = []
    for row in _lines(folder / "questions.jsonl"):
        central = [part["uid"] for part in row["explanation"] if part["role"] == "CENTRAL"]
        right = frozenset(places[uid] for uid in central if uid in places)
        if right and not row["masked"]:
            stem, *choices = _CHOICE.split(row["question"])
            answer = dict(zip(choices[::2], choices[1::2], strict=True))[row["answer"]]
            questions.append(Question("Science", f"{stem} {answer}", right))
    return Labelled("worldtree", [_document("", fact) for fact in place], questions)


def flashcards(folder: Path) -> Labelled:
    """Computer science: the front of a card asks, its back answers. Cards of a word or two are left out."""
    cards = _json(folder / "cards-jwasham.json")
    pairs = {card["back"].strip(): card["front"] for card in cards}
    long = [(back, front) for back, front in pairs.items() if len(back) >= 40 and len(front) >= 15]
    questions = [
        Question("Computer science", front, frozenset({number})) for number, (_, front) in enumerate(long)
    ]
    return Labelled("cs_flashcards", [_document("", back) for back, _ in long], questions)


def bridge(folder: Path) -> Labelled:
    """Primary-school mathematics: a real turn of each lesson, and what an expert tutor would have said then."""
    lessons = {_LESSON_CODE.sub("", row["lesson_topic"]): row for row in _lines(folder / "train.jsonl")}
    questions = [
        Question(topic, " ".join(turn["text"] for turn in row["c_h"][-2:]), frozenset({number}))
        for number, (topic, row) in enumerate(lessons.items())
    ]
    replies = [_document("", _of_the_tutor(row["c_revision"])) for row in lessons.values()]
    return Labelled("bridge", replies, questions)


def metacademy(folder: Path) -> Labelled:
    """Machine learning and mathematics: what one should be able to do, and the concept that it belongs to."""
    concepts = [one for one in _json(folder / "concepts.json") if one["id"] and one["summary"].strip()]
    questions = [
        Question("Machine learning", goal, frozenset({number}))
        for number, concept in enumerate(concepts)
        for goal in _GOAL.findall(concept["goals"])
    ]
    return Labelled("metacademy", [_document(one["title"], one["summary"]) for one in concepts], questions)


def all_sets(data_dir: Path) -> list[Labelled]:
    """Every set. FileNotFoundError where the data are not."""
    return [
        openbookqa(data_dir / "openbookqa"),
        worldtree(data_dir / "worldtree"),
        flashcards(data_dir / "cs_flashcards"),
        bridge(data_dir / "bridge"),
        metacademy(data_dir / "metacademy"),
    ]


def _document(title: str, text: str) -> str:
    """The text of an entry of that title and instruction; a fact of one sentence has no title."""
    return document_text(title, text, "")


def _of_the_tutor(turns: Iterable[Mapping[str, Any]]) -> str:
    return " ".join(turn["text"] for turn in turns if turn["user"] == "tutor")


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _lines(file: Path) -> Iterator[Any]:
    return map(json.loads, file.read_text(encoding="utf-8").splitlines())
