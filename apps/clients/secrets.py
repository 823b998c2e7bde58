"""What a key looks like, and the hash it is kept as."""

import hashlib
import re
import secrets

PREFIX = "lode_"
RANDOM_BYTES = 32
SHOWN_CHARS = 12
"""How much of a key stands in lists, to know it by: 42 of its 256 random bits."""

SHAPE = re.compile(r"lode_[A-Za-z0-9_-]{43}")


def new_key() -> str:
    """A fresh key: a prefix that scanners of leaked secrets can find, and 256 random bits."""
    return PREFIX + secrets.token_urlsafe(RANDOM_BYTES)


def key_hash(key: str) -> str:
    """The SHA-256 of a key. No slow hash: 256 random bits cannot be guessed, and every request pays for this."""
    return hashlib.sha256(key.encode()).hexdigest()
