"""``python -m benchmarks NAME [--json FILE]``: measure, on servers and a database of their own.

``all`` runs every benchmark, each in a process of its own, so that none warms up another.
Benchmarks find real texts by ``LODE_DATA_DIR``. Nothing here runs in the test suite, and no test is timed.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.rows import Row

NAMES: tuple[str, ...] = ("bands", "filtered", "retrieve", "growth", "import", "startup")
ROOT = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was named, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=[*NAMES, "all"])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    chosen = parser.parse_args(arguments)
    rows = _all() if chosen.name == "all" else _one(chosen.name)
    _print(rows)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


def _one(name: str) -> list[dict[str, Any]]:
    """Measure in this process, on servers under ``var/bench``."""
    var = ROOT / "var" / "bench"
    os.environ["LODE_VAR"] = str(var)
    for named in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(named, None)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.development")
    import django  # noqa: PLC0415 - only once the environment says where the servers are

    django.setup()
    from apps.core.embedded import running  # noqa: PLC0415 - as above

    with running(var):
        return [row.as_json() for row in _rows(name)]


def _rows(name: str) -> list[Row]:
    from django.conf import settings  # noqa: PLC0415 - as above

    try:
        rows: list[Row] = importlib.import_module(f"benchmarks.{name}").run()
    except FileNotFoundError as missing:
        folder = settings.LODE_DATA_DIR
        if not str(missing.filename).startswith(str(folder)):
            raise
        raise SystemExit(
            f"{name} reads real texts, and {missing.filename} is not there: set LODE_DATA_DIR"
        ) from None
    return rows


def _all() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            print(f"benchmark {name} …", file=sys.stderr, flush=True)
            file = Path(folder) / f"{name}.json"
            command = [sys.executable, "-m", "benchmarks", name, "--json", str(file)]
            if subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL).returncode:
                raise SystemExit(f"benchmark {name} failed")
            rows += [{**row, "name": f"{name}: {row['name']}"} for row in json.loads(file.read_text())]
    return rows


def _print(rows: Sequence[dict[str, Any]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - the choice of a name needs no table
    from rich.table import Table  # noqa: PLC0415

    table = Table("name", "value", "unit", "goal", "")
    for row in rows:
        mark = {True: "[green]reached", False: "[red]missed", None: ""}[row["reached"]]
        table.add_row(row["name"], f"{row['value']:,.4g}", row["unit"], row["goal"], mark)
    Console(width=110).print(table)


if __name__ == "__main__":
    sys.exit(main())
