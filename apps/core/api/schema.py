"""The OpenAPI description, complete where drf-spectacular cannot see: problems, headers, query parameters."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from apps.core.api.problems import CONTENT_TYPE
from apps.core.api.serializers import PageSerializer, ProblemSerializer

_ALWAYS = {
    400: "The request cannot be read, or has a query parameter that is not known.",
    401: "There is no key, or one that is unknown, revoked or expired.",
    403: "The key may not do this.",
    406: "The answer is JSON, and the request accepts none.",
    429: "The key called too often; Retry-After says when to come back.",
    503: "The database does not answer.",
}
_ADDRESSED = {404: "There is no such thing, or none that the key may see."}
_QUERIED = {422: "A query parameter is wrong."}
_WITH_BODY = {
    409: "The request meets something that is already there, or a retry that is still running.",
    411: "The body comes without its length.",
    413: "The body is too large.",
    415: "The body is no JSON.",
    422: "Something that the request says breaks a rule.",
}
_CHANGING = {412: "The row changed since the version in If-Match."}

_IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="Names this write, so that it can be sent again and happens once.",
)
_IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The ETag that the change is meant for.",
)
_ETAG = OpenApiParameter(
    "ETag",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    response=["200", "201"],
    description="The row's version.",
)


class ApiSchema(AutoSchema):
    """One operation. It knows an ``ApiView``'s query serializers, retryable writes, ETags and problems."""

    def get_override_parameters(self) -> list[Any]:
        """The parameters that a view declares in its own way."""
        queries: dict[str, Any] = getattr(self.view, "query", {})
        found = [queries[self.method]] if self.method in queries else []
        if getattr(self._handler(), "is_idempotent", False):
            found.append(_IDEMPOTENCY_KEY)
        if getattr(self.view, "has_etag", False):
            found += [_ETAG] if self.method == "GET" else [_ETAG, _IF_MATCH]
        return found

    def get_operation_id(self) -> str:
        """The path's words and what the method does to one, or to all, of what it names."""
        words = [word.replace("-", "_") for word in self._tokenize_path()]
        whole = "{" not in self.path
        verbs = {
            "GET": "list" if whole or self._is_page() else "read",
            "POST": "create" if whole else "",
            "PATCH": "change_several" if whole else "change",
            "DELETE": "delete",
        }
        return "_".join(filter(None, [*words, verbs[self.method]]))

    def _is_page(self) -> bool:
        responses: Any = self.get_response_serializers()
        first = next(iter(responses.values())) if isinstance(responses, dict) else responses
        return isinstance(first, type) and issubclass(first, PageSerializer)

    def _handler(self) -> Any:
        return getattr(self.view, self.method.lower(), None)

    def _get_request_body(self, direction: Any = "request") -> Any:
        """Whatever takes a body needs one: also a PATCH, none of whose fields is required."""
        body = super()._get_request_body(direction)  # type: ignore[no-untyped-call]  # the library's
        return {**body, "required": True} if body else body

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        for status, description in self._problems().items():
            problem = OpenApiResponse(ProblemSerializer, description)
            body = self._get_response_for_code(problem, str(status), [CONTENT_TYPE], direction)  # type: ignore[no-untyped-call]  # the library's
            bodies.setdefault(str(status), body)
        return bodies

    def _problems(self) -> dict[int, str]:
        found = dict(_ALWAYS)
        if "{" in self.path or getattr(self.view, "may_miss", False):
            found |= _ADDRESSED
        if self.method in getattr(self.view, "query", {}):
            found |= _QUERIED
        if self.method != "GET":
            found |= _WITH_BODY
        if self.method != "GET" and getattr(self.view, "has_etag", False):
            found |= _CHANGING
        return dict(sorted(found.items()))
