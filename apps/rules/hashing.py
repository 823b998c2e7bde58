"""The `hash` provider's vectors (rules.md 12): deterministic and offline, the baseline of every better one."""

import math
from collections import Counter

DIMENSIONS = 128
READ_CHARS = 2048


def hash_vector(text: str) -> list[float]:
    """128 counts of the first 2,048 code points by their number modulo 128, L2-normalised.

    The vector of an empty text has no direction and stays zero, which every writer of vectors refuses.
    """
    counts = Counter(ord(char) % DIMENSIONS for char in text[:READ_CHARS])
    norm = math.sqrt(sum(count * count for count in counts.values())) or 1.0
    return [counts[position] / norm for position in range(DIMENSIONS)]
