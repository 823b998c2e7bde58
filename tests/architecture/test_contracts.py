"""The import contracts hold, and each of them fails when it is broken."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

ROOT: Path = settings.BASE_DIR

VIOLATIONS = {
    "Apps are layered": ("apps/core/ids.py", "import apps.entries.models\n"),
    "Inside each app": ("apps/entries/models.py", "import apps.entries.actions\n"),
    "apps.rules is pure": (
        "apps/rules/words.py",
        "def now() -> float:\n    import time\n    return time.time()\n",
    ),
    "Only the registry": ("apps/embeddings/models.py", "import apps.embeddings.providers\n"),
    "Apps never import config": ("apps/retrieval/apps.py", "import config.celery\n"),
}


def lint(folder: Path) -> str:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as c; c()",
        "--no-cache",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("apps", "config"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.json"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_contracts_hold_and_each_violation_breaks_its_own(copy: Path) -> None:
    assert "0 broken" in lint(copy)
    for contract, (file, violation) in VIOLATIONS.items():
        whole = (copy / file).read_text()
        (copy / file).write_text(f"{whole}\n{violation}")
        broken = [line for line in lint(copy).splitlines() if line.endswith("BROKEN")]
        assert any(line.startswith(contract) for line in broken), (contract, broken)
        (copy / file).write_text(whole)


def test_an_app_that_no_layer_names_is_refused(copy: Path) -> None:
    (copy / "apps" / "attic").mkdir()
    (copy / "apps" / "attic" / "__init__.py").touch()
    assert "BROKEN" in lint(copy) or "attic" in lint(copy)
