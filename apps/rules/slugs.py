"""How names become slugs (rules.md 2).

Signs that tell names apart are spelled out (`C++`, `C#` and `C`; `y = x` and `y = -x`), everything that
only decorates a name is dropped, and a slug made into a slug is itself.
"""

import hashlib
import re
import unicodedata

UNANCHORED = "_unanchored_"
"""The `concept_slug` of an entry whose concept could not be identified; no slug, and nothing's name."""

MAX_CHARS = 100
_KEPT_CHARS = 91
_HASH_CHARS = 8
_SPELLED_OUT = frozenset("#*%&@")


def slugify(name: str) -> str | None:
    """The slug of `name`, at most 100 characters; None where nothing usable is left of it."""
    text = _normalised(_normalised(name).lower())
    spelled = "".join(_spelled(text, index) for index in range(len(text)))
    # Dropping what stood between them can bring a letter and a combining mark together.
    joined = _normalised(re.sub(r"[\s_-]+", "-", spelled).strip("-"))
    return _shortened(joined) or None


def is_slug(text: str) -> bool:
    """Whether `text` is a slug as it stands, which is what a client must send."""
    return slugify(text) == text


def _normalised(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _spelled(text: str, index: int) -> str:
    """What the character at `index` leaves in a slug: itself, its name as a word, a separator or nothing."""
    char = text[index]
    if char.isspace() or char == "_":
        return " "
    if char == "-":
        return " " if index and _is_kept(text[index - 1]) else _name(char)
    if char in _SPELLED_OUT or unicodedata.category(char).startswith("S"):
        return _name(char)
    return char if _is_kept(char) else ""


def _is_kept(char: str) -> bool:
    """Whether `char` is a letter, a number or a combining mark (which belongs to the letter before it)."""
    return unicodedata.category(char)[0] in "LNM"


def _name(char: str) -> str:
    return f" {unicodedata.name(char).lower()} "


def _shortened(slug: str) -> str:
    if len(slug) <= MAX_CHARS:
        return slug
    digest = hashlib.sha256(slug.encode()).hexdigest()[:_HASH_CHARS]
    return f"{slug[:_KEPT_CHARS].rstrip('-')}-{digest}"
