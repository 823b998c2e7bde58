"""Every benchmark that can be named is there, and asking for help starts nothing."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES, main


@pytest.mark.parametrize("name", NAMES)
def test_a_named_benchmark_is_a_module_that_runs(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    assert not inspect.signature(module.run).parameters
    assert module.__doc__


def test_help_names_them_all_and_starts_nothing() -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "benchmarks", "--help"]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert [name for name in NAMES if name not in said] == []


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["speed"])
    assert ended.value.code == 2
    assert "invalid choice: 'speed'" in capsys.readouterr().err
