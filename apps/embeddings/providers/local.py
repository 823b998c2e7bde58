"""A sentence-transformer on this machine's processor: onnxruntime and its tokenizer, no network.

Measured with all-MiniLM-L6-v2 on two cores: a short query in 3 to 4 ms, 700 short facts a second. Its
int8 weights become 32-bit floats when the model is loaded (170 MB), so what else is in a batch does not
change a vector: batched and single vectors of 256 facts were equal to the last bit.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from django.conf import settings
from numpy.typing import ArrayLike, NDArray
from tokenizers import Encoding, Tokenizer

from apps.embeddings.errors import ProviderNotConfiguredError
from apps.embeddings.providers import sentence_model
from apps.embeddings.providers.base import EmbeddingProvider
from apps.embeddings.providers.sentence_model import SentenceModel

# Tokens of one run, padding counted. More is slower (64 x 256 tokens: half the speed) and takes more
# memory, less does not fill two cores.
_RUN_TOKENS = 1024
_MOST_THREADS = 2


class LocalProvider(EmbeddingProvider):
    """Vectors of one model on disk, loaded at the first text."""

    name = "local"

    def __init__(self, files: SentenceModel) -> None:
        self._files = files
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None
        self._dimensions = files.dimensions
        self.max_input_tokens = files.max_tokens

    @property
    def model(self) -> str:
        return self._files.name

    @property
    def dimensions(self) -> int:
        if self._dimensions is None:
            # Files disagree on where they state it; the model's own answer cannot be wrong.
            self._dimensions = len(self._ready().run([self._ready().encode("length")])[0])
        return self._dimensions

    def fits(self, text: str) -> bool:
        return len(self._ready().encode(text)) <= self._files.max_tokens

    def _raw_vectors(self, texts: Sequence[str], *, urgent: bool) -> Sequence[ArrayLike]:
        del urgent  # no network is waited for
        loaded = self._ready()
        encodings = [loaded.encode(text) for text in texts]
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for run in _runs(encodings):
            vectors[run] = loaded.run([encodings[place] for place in run])
        return list(vectors)

    def _ready(self) -> "_Loaded":
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = _Loaded(self._files)
        return self._loaded


class _Loaded:
    """A tokenizer and a session: both may be used from several threads at once."""

    def __init__(self, files: SentenceModel) -> None:
        self._files = files
        try:
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(files.tokenizer))
            self._session = onnxruntime.InferenceSession(
                str(files.onnx), _session_options(), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # both libraries raise their own unnamed classes
            raise ProviderNotConfiguredError(
                f"local: {files.onnx.parent} cannot be loaded: {error}"
            ) from error
        # As shipped, it cuts at 128 tokens without a word and pads every text to 128.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._inputs = {put.name for put in self._session.get_inputs()}
        outputs = [put.name for put in self._session.get_outputs()]
        self._pooled = "sentence_embedding" in outputs
        self._output = "sentence_embedding" if self._pooled else outputs[0]

    def encode(self, text: str) -> Encoding:
        """The whole text's tokens with the model's marks. One by one: the parallel form does not outlive a fork."""
        return self._tokenizer.encode(text)

    def run(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        """The sentence vectors of ``encodings``, padded to the longest."""
        mask = self._padded([encoding.attention_mask for encoding in encodings], 0)
        fed = {
            "input_ids": self._padded([encoding.ids for encoding in encodings], self._files.pad_id),
            "attention_mask": mask,
            "token_type_ids": self._padded([encoding.type_ids for encoding in encodings], 0),
        }
        output = self._session.run([self._output], {name: fed[name] for name in self._inputs})[0]
        answer: NDArray[np.float32] = output if self._pooled else self._pool(output, mask)
        return answer

    def _pool(self, tokens: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        if self._files.pooling == "cls":
            first: NDArray[np.float32] = tokens[:, 0]
            return first
        weights = mask[..., None].astype(np.float32)
        mean: NDArray[np.float32] = (tokens * weights).sum(axis=1) / weights.sum(axis=1)
        return mean

    @staticmethod
    def _padded(rows: Sequence[Sequence[int]], filler: int) -> NDArray[np.int64]:
        padded = np.full((len(rows), max(map(len, rows))), filler, dtype=np.int64)
        for place, row in enumerate(rows):
            padded[place, : len(row)] = row
        return padded


def _session_options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(_MOST_THREADS, os.cpu_count() or 1)
    options.inter_op_num_threads = 1
    # A waiting thread that spins answers 1 ms sooner and takes a core from the web server and the database.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena keeps the largest run for good: 3 GB after 64 x 256 tokens, against 340 MB without.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return options


def _runs(encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Positions in runs of like lengths, so that little padding is computed: 700 texts a second, not 250."""
    run: list[int] = []
    for place in sorted(range(len(encodings)), key=lambda place: len(encodings[place])):
        if run and (len(run) + 1) * len(encodings[place]) > _RUN_TOKENS:
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def build(model: str | None, dimensions: int | None) -> EmbeddingProvider:
    """The provider of ``model``: the folder of LODE_LOCAL_MODEL_DIR, or the one installed with Lode.

    Without a model: the folder where one is set, else the installed one.
    """
    folder: str = settings.LODE_LOCAL_MODEL_DIR
    if model == sentence_model.BUNDLED_NAME or not (model or folder):
        return _of_length(LocalProvider(sentence_model.bundled()), dimensions)
    if not folder:
        raise ProviderNotConfiguredError(f"local: no model {model!r}; set LODE_LOCAL_MODEL_DIR to its folder")
    files = sentence_model.from_folder(Path(folder))
    if model not in (None, files.name):
        raise ProviderNotConfiguredError(
            f"local: no model {model!r}; LODE_LOCAL_MODEL_DIR holds {files.name!r}"
        )
    return _of_length(LocalProvider(files), dimensions)


def _of_length(provider: LocalProvider, dimensions: int | None) -> LocalProvider:
    if dimensions is not None and dimensions != provider.dimensions:
        message = f"{provider.space}: has {provider.dimensions} dimensions, not {dimensions}"
        raise ProviderNotConfiguredError(message)
    return provider
