"""Named SQL files."""

from pathlib import Path

import pytest
from django.conf import settings

from apps.core.sql import statements


def write(folder: Path, text: str) -> Path:
    file = folder / "some.sql"
    file.write_text(text)
    return file


def test_statements_are_found_by_name_with_what_they_are_about(tmp_path: Path) -> None:
    file = write(
        tmp_path, "-- name: one\n-- First,\n-- and last.\nSELECT 1\n-- inside\n\n-- name: two\nSELECT 2;\n"
    )
    found = statements(file)
    assert list(found) == ["one", "two"]
    assert (found["one"].about, found["one"].text) == ("First, and last.", "SELECT 1\n-- inside")


@pytest.mark.parametrize(
    "text", ["SELECT 1\n-- name: one\nSELECT 1", "-- name: a\nSELECT 1\n-- name: a\nSELECT 2"]
)
def test_a_file_that_would_lose_a_statement_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"some\.sql"):
        statements(write(tmp_path, text))


def test_every_statement_of_the_product_says_what_it_is_for() -> None:
    files = list(Path(settings.BASE_DIR).glob("apps/*/sql/*.sql"))
    assert files
    assert [name for file in files for name, found in statements(file).items() if not found.about] == []
