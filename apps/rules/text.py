"""Texts on their way to a vector or a prompt: joining, hashing, chunking and clipping (rules.md 3 and 5)."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence

from apps.rules.dials import DialValues

Fits = Callable[[str], bool]
"""Whether a provider takes a text whole; a provider that counts tokens says no to some that are short enough."""

# Two patterns that each begin with one set of characters, for which the engine searches fastest. A run of full
# stops is entered at its start alone and never given back, so that a text of nothing else takes linear time.
_SPACED_END = re.compile(r"""[.!?…](?<![.!?…][.!?…])[.!?…]*+["'”’»)\]]*+(?=\s|\Z)""")
_UNSPACED_END = re.compile(r"[。！？]++[」』”’）]*+")  # of scripts that write no space after it
_GAP = re.compile(r"\s++")
_ELLIPSIS = "…"


def document_text(title: str, instruction: str, detail: str) -> str:
    """The text of an entry that is embedded and hashed: all three parts, joined by newlines even where empty."""
    return f"{title}\n{instruction}\n{detail}"


def text_hash(text: str) -> str:
    """The SHA-256 of `text` in UTF-8, as 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def turn_query_text(
    *, topic_title: str, level: str, focus: str | None, message: str, dials: DialValues
) -> str:
    """The one text that a turn's passes are asked with (rules.md 3)."""
    clipped = message[: dials.student_message_clip_chars]
    return f"topic:{topic_title} level:{level} focus:{focus or 'none'} student:{clipped}"


def chunks(text: str, *, max_chars: int, fits: Fits) -> list[str]:
    """`text` in as few pieces as sentence ends allow, each at most `max_chars` long and taken by `fits`.

    The pieces joined are the text: nothing is left out. A sentence too long for one piece is split at white
    space, else between code points. Raises ValueError where not even one character fits.
    """
    pieces = []
    start = 0
    while start < len(text):
        # One character more than a piece may hold: what follows decides whether a full stop ends a sentence.
        window = text[start : start + max_chars + 1]
        pieces.append(window[: _chunk_length(window, max_chars, fits)])
        start += len(pieces[-1])
    return pieces


def cut_query(text: str, *, max_chars: int, fits: Fits) -> str:
    """The longest beginning of `text` that is at most `max_chars` long and taken by `fits`.

    Raises ValueError where not even one character fits.
    """
    whole = text[:max_chars]
    if not whole or fits(whole):
        return whole
    return whole[: _required(_longest(range(1, len(whole)), whole, fits))]


def clip(text: str, limit: int) -> str:
    """`text` in at most `limit` characters (rules.md 5); a text that is short enough stays as it is.

    It ends at the last sentence end in the second half of the limit, else at the last white space there, else
    at the limit, the last two with an ellipsis. Only the first `limit + 1` characters of `text` matter.
    """
    if len(text) <= limit:
        return text
    window = text[: limit + 1]
    ends = [end for end in _sentence_ends(window) if limit < 2 * end <= 2 * limit]
    if ends:
        return window[: max(ends)]
    gaps = [index for index in range(limit) if window[index].isspace() and limit < 2 * (index + 1)]
    return window[: gaps[-1] if gaps else limit - 1].rstrip() + _ELLIPSIS


def _sentence_ends(text: str) -> list[int]:
    return [match.end() for pattern in (_SPACED_END, _UNSPACED_END) for match in pattern.finditer(text)]


def _chunk_length(window: str, max_chars: int, fits: Fits) -> int:
    if len(window) <= max_chars and fits(window):
        return len(window)
    for cuts in _cuts(window, max_chars):
        if length := _longest(cuts, window, fits):
            return length
    return _required(None)


def _cuts(window: str, max_chars: int) -> Iterator[Sequence[int]]:
    """Where a chunk may end, rising: at sentence ends and line breaks, else at white space, else anywhere."""
    ends = set(_sentence_ends(window))
    gaps = [(gap.start(), gap.end(), "\n" in gap.group()) for gap in _GAP.finditer(window)]
    ends |= {cut for start, end, breaks in gaps if breaks or start in ends for cut in (start, end)}
    spaces = {cut for start, end, _ in gaps for cut in (start, end)}
    for cuts in (ends, spaces, range(len(window) + 1)):
        yield sorted(cut for cut in cuts if 0 < cut <= max_chars)


def _longest(cuts: Sequence[int], text: str, fits: Fits) -> int | None:
    """The last of rising `cuts` up to which `text` fits: by halving, for a longer text needs more tokens.

    A tokenizer may break that rule by a token; then the answer still fits, and is at worst a little short.
    """
    best = None
    low, high = 0, len(cuts) - 1
    while low <= high:
        middle = (low + high) // 2
        if fits(text[: cuts[middle]]):
            best, low = cuts[middle], middle + 1
        else:
            high = middle - 1
    return best


def _required(length: int | None) -> int:
    if length is None:
        raise ValueError("not even one character fits; give a larger limit")
    return length
