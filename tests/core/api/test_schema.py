"""The OpenAPI description: whole, true, and enough to make a client from."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import hypothesis
import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from schemathesis import checks as common
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

from apps.edges.models import Edge
from apps.embeddings.queries import forget_serving_space
from tests.api import Caller, make_key, problem
from tests.factories import make_concept, make_edge, make_entry, make_space, make_topic

_HELD = [
    common.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.ignored_auth,
]
# The one address that gives a file, in two forms.
_FILES = "/api/v1/curriculum/export"


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    answer = Client().get("/api/schema/", headers={"accept": "application/vnd.oai.openapi+json"})
    found: dict[str, Any] = json.loads(answer.content)
    return found


def operations(description: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def test_it_is_valid_and_made_without_a_warning(tmp_path: Path) -> None:
    call_command(
        "spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "s.yaml"), stdout=StringIO()
    )


def test_every_operation_tells_its_answers_and_its_errors(description: dict[str, Any]) -> None:
    for path, method, operation in operations(description):
        answers = operation["responses"]
        assert {"400", "401", "403", "429", "503"} <= set(answers), (path, method)
        assert "404" in answers or "{" not in path, (path, method)
        assert operation["security"] == [{"key": []}], (path, method)
        assert operation["description"], (path, method)
        for status, answer in answers.items():
            kinds = set(answer.get("content", {}))
            wanted = {"application/problem+json"} if status >= "400" else {"application/json"}
            wanted |= {"application/zip"} if (path, status) == (_FILES, "200") else set()
            assert kinds == wanted or status == "204", (path, method, status)


def test_every_component_is_described(description: dict[str, Any]) -> None:
    for name, component in description["components"]["schemas"].items():
        assert component.get("description") or "enum" in component, name


def _address(path: str, operation: dict[str, Any]) -> str:
    """An address of that form, of nothing."""
    for parameter in operation.get("parameters", []):
        kind = parameter["schema"]
        value = (
            str(UUID(int=0)) if kind.get("format") == "uuid" else "1" if kind["type"] == "integer" else "x"
        )
        path = path.replace("{" + parameter["name"] + "}", value)
    return path


@pytest.mark.django_db
def test_every_operation_asks_for_a_key_and_its_scope(description: dict[str, Any]) -> None:
    powerless = Caller(scopes=["erase"], rate_per_minute=100_000)
    for path, method, operation in operations(description):
        address = _address(path, operation)
        problem(Caller(key="")(method, address), 401, "not_authenticated")
        problem(powerless(method, address), 403, "scope_required")


def test_the_docs_page_fetches_nothing_from_elsewhere() -> None:
    page = Client().get("/api/docs/").content.decode()
    assert "swagger-ui" in page
    assert re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page) == []


@pytest.fixture
def app() -> Iterator[WSGIHandler]:
    """The API as a server sees it, in this test's transaction: a request's end leaves the connection alone."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield WSGIHandler()
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")  # of the fuzzer's own
def test_no_input_breaks_the_api(settings: Any, app: WSGIHandler) -> None:
    """Forty generated requests for each operation, sound and unsound; what they change is there."""
    settings.ALLOWED_HOSTS = ["*"]
    make_topic(slug="known"), make_concept(slug="known")
    make_space()
    forget_serving_space()
    entry, edge = str(make_entry().pk), make_edge().pk
    there = {
        "slug": "known",
        "topic": "known",
        "key": "tutor_top_k",
        "id": entry,
        "entry_id": entry,
        "edge_id": edge,
        "session": None,
    }
    _, key = make_key(rate_per_minute=1_000_000)
    schema = schemathesis.openapi.from_wsgi("/api/schema/", app)
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        _fuzz(found.ok(), key, there)


def _fuzz(operation: Any, key: str, there: dict[str, Any]) -> None:
    """Sound requests name what is there; unsound ones are left as they are."""
    _hold(operation, schemathesis.GenerationMode.POSITIVE, key, there)
    _hold(operation, schemathesis.GenerationMode.NEGATIVE, key, {})


def _hold(operation: Any, mode: schemathesis.GenerationMode, key: str, there: dict[str, Any]) -> None:
    @hypothesis.settings(
        max_examples=20,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
    def holds(case: Any) -> None:
        for said in (case.path_parameters, case.body):
            _find(said, there)
        case.call_and_validate(headers={"Authorization": f"Bearer {key}"}, checks=_HELD)

    holds()


def _find(said: Any, there: dict[str, Any]) -> None:
    """Put what is there where something is named; None leaves the name out."""
    if isinstance(said, dict):
        named = {name: there[name] for name, value in said.items() if name in there and value is not None}
        said.update(named)
        for name in [name for name, value in named.items() if value is None]:
            del said[name]


@pytest.fixture
def generated(tmp_path: Path, description: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client that openapi-python-client made from the description, imported as it is."""
    (tmp_path / "schema.json").write_text(json.dumps(description))
    (tmp_path / "config.yaml").write_text("post_hooks: []\n")
    tool = Path(sys.executable).parent / "openapi-python-client"
    subprocess.run(
        [tool, "generate", "--path", "schema.json", "--config", "config.yaml", "--meta", "none",
         "--output-path", "lode_client", "--fail-on-warning"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("lode_client")
    for name in [name for name in sys.modules if name.partition(".")[0] == "lode_client"]:
        del sys.modules[name]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_generated_client_works(generated: Any, live_server: Any) -> None:
    with generated.AuthenticatedClient(base_url=live_server.url, token=make_key()[1]) as client:
        _use(client)
    assert not Edge.objects.exists()


def _use(client: Any) -> None:
    """One operation of each kind, on each resource."""
    models = importlib.import_module("lode_client.models")

    def call(operation: str, **given: Any) -> Any:
        module = importlib.import_module(f"lode_client.api.{operation.partition('_')[0]}.{operation}")
        return module.sync(client=client, **given)

    topic = call("topics_create", body=models.TopicRequest(slug="crypto", title="Crypto"))
    assert call("topics_read", slug="crypto") == topic
    concept = call("concepts_create", body=models.ConceptRequest(slug="c", title="C", aliases=["Cee"]))
    assert call("concepts_list").results == [concept]
    entries = [
        call(
            "entries_create",
            body=models.EntryRequest(topic="crypto", concept=name, title="T", instruction=f"I {name}"),
        )
        for name in ("c", None)
    ]
    edge = call(
        "edges_create",
        body=models.EdgeRequest(
            source=entries[0].id, target=entries[1].id, type_=models.EdgeTypeEnum("related")
        ),
    )
    assert (
        call("edges_change", edge_id=edge.id, body=models.PatchedEdgeChangeRequest(condition="if")).condition
        == "if"
    )
    dial = call(
        "dials_change", key="retrieval_top_k", body=models.PatchedDialChangeRequest(value=7, reason="r")
    )
    assert dial.values[0].value == 7
    missing = call("entries_read", entry_id="00000000-0000-0000-0000-000000000000")
    assert (type(missing), missing.status, missing.code) == (models.Problem, 404, "not_found")
    assert call("edges_delete", edge_id=edge.id) is None


@pytest.mark.parametrize("query", ["version=2", "version=%00", "version=%0d%0aX:1", "lang=zz", "lang=%00"])
def test_no_query_changes_the_schema_or_its_headers(query: str) -> None:
    plain, asked = Client().get("/api/schema/"), Client().get(f"/api/schema/?{query}")
    assert asked.content == plain.content
    assert asked["Content-Disposition"] == plain["Content-Disposition"]
