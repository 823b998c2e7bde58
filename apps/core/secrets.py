"""Secrets that are made once and kept in a file only its owner can read."""

import contextlib
import os
import secrets
from pathlib import Path


def kept_secret(path: Path, *, length: int = 50, prefix: str = "") -> str:
    """The secret in ``path``, made there (mode 0600) if it is not yet, from ``length`` random bytes.

    Two processes that start at once agree: a whole file is linked into place, and the loser reads it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        _link_into_place(path, prefix + secrets.token_urlsafe(length))
    return path.read_text(encoding="utf-8").strip()


def _link_into_place(path: Path, secret: str) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret)
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
