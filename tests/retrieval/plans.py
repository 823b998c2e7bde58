"""The plans that statements ran by."""

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection


class Plan:
    """The plan that a prepared statement really ran by, with what each part of it did."""

    def __init__(self, text: str, params: dict[str, str | None]) -> None:
        numbered = text.replace("%(ask)s", "$1").replace("%(query)s", "$2")
        with connection.cursor() as cursor:
            cursor.execute(f"PREPARE planned AS {numbered}".replace("%", "%%"), [])
            given = [params["ask"], params["query"]] if "$2" in numbered else [params["ask"]]
            cursor.execute(
                f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE planned ({', '.join(['%s'] * len(given))})", given
            )
            ((((document,),),)) = cursor.fetchall()
            cursor.execute("DEALLOCATE planned")
        found = json.loads(document) if isinstance(document, str) else document
        root = found["Plan"] if isinstance(found, dict) else found[0]["Plan"]
        self.nodes = list(_nodes(root))

    @property
    def indexes(self) -> set[str]:
        """The indexes that were looked into."""
        return {node["Index Name"] for node in self.nodes if "Index Name" in node and node["Actual Loops"]}

    @property
    def scanned(self) -> set[str]:
        """The tables that were read from end to end."""
        scans = (node for node in self.nodes if node["Node Type"] == "Seq Scan" and node["Actual Loops"])
        return {node["Relation Name"] for node in scans}


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", ()):
        yield from _nodes(inner)
