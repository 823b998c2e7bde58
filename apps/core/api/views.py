"""The view that every REST address extends."""

import http
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from django.db.models import Model, QuerySet
from django.utils import timezone
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from apps.core.actors import Actor
from apps.core.api.access import Access, access_of, handled_method
from apps.core.api.etags import Versioned, etag
from apps.core.api.pagination import paginate
from apps.core.api.parsers import MAX_BODY_BYTES
from apps.core.api.problems import LengthRequired, Malformed, missing, validation_refusal
from apps.core.api.serializers import NothingSerializer
from apps.core.errors import Problem

Row = TypeVar("Row", bound=Model)


class ApiView(APIView):
    """One address: authenticated, throttled, strict about its body and its query parameters.

    A subclass names the key's ``scope`` (or ``scopes`` by method), and in ``query`` the serializer of the
    query parameters of each method that takes some; every other parameter is refused. For the schema,
    ``has_etag`` says that answers carry a version, and ``may_miss`` that a body can name what is not there.
    """

    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    metadata_class = None
    max_body_bytes: ClassVar[int] = MAX_BODY_BYTES
    scope: ClassVar[str | None] = None
    scopes: ClassVar[Mapping[str, str]] = {}
    has_etag: ClassVar[bool] = False
    may_miss: ClassVar[bool] = False
    query: ClassVar[Mapping[str, type[Serializer[Any]]]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Before the handler: DRF's checks, then the query parameters."""
        self.now = timezone.now()
        super().initial(request, *args, **kwargs)
        self.parameters = self._parameters(request)

    def check_permissions(self, request: Request) -> None:
        """Throttled first: a refusal costs a key as much as an answer."""
        super().check_throttles(request)
        super().check_permissions(request)

    def check_throttles(self, request: Request) -> None:
        """Done already, before permissions."""

    @property
    def access(self) -> Access:
        """What the caller may do and see."""
        return access_of(self.request)

    @property
    def actor(self) -> Actor:
        """The caller, as the audit names it."""
        return self.access.actor

    def body(self, serializer: type[Serializer[Any]], **context: Any) -> dict[str, Any]:
        """The request's body through ``serializer``; raises a Refusal for everything that is wrong with it."""
        if self._has_no_body():
            raise Malformed("object_expected", "the body is a JSON object, and there is none")
        return validated(serializer(data=self.request.data, context=context))

    def changes(self, serializer: type[Serializer[Any]], **context: Any) -> dict[str, Any]:
        """As ``body``, for a PATCH: nothing is required."""
        if self._has_no_body():
            raise Malformed("object_expected", "the body is a JSON object, and there is none")
        return validated(serializer(data=self.request.data, context=context, partial=True))

    def one(self, rows: "QuerySet[Row]") -> Row:
        """The first of the rows that the caller may see; raises Missing where there is none."""
        found = rows.first()
        if found is None:
            raise missing()
        return found

    def nothing(self) -> None:
        """Refuse a body that says anything, where the address says it all."""
        validated(NothingSerializer(data=self.request.data))

    def page(
        self, rows: "QuerySet[Row]", *, order: Sequence[str], show: "Callable[[list[Row]], Any]"
    ) -> Response:
        """One page of ``rows``, at the cursor and limit of the query; ``show`` renders them together."""
        given = self.parameters
        found = paginate(
            rows, order=order, cursor=given.get("cursor"), limit=given["limit"], path=self.request.path
        )
        return Response({"results": show(found.rows), "next": found.next})

    def _has_no_body(self) -> bool:
        if "chunked" in self.request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
            raise LengthRequired("length_required", "send the body with its Content-Length, not in chunks")
        return self.request.stream is None

    def _parameters(self, request: Request) -> dict[str, Any]:
        serializer = self.query.get(handled_method(request))
        given = request.query_params
        known = serializer().fields if serializer is not None and given else {}
        for name, values in given.lists():
            if name not in known:
                raise Malformed("unknown_parameter", f"there is no query parameter {name!r} here", f"?{name}")
            if len(values) > 1:
                raise Malformed(
                    "repeated_parameter", f"the query parameter {name!r} stands twice", f"?{name}"
                )
        return {} if serializer is None else _validated_query(serializer(data=given.dict()))


def validated(serializer: Serializer[Any]) -> dict[str, Any]:
    """What a serializer makes of its data; raises Invalid with a pointer for each thing that is wrong."""
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


def _validated_query(serializer: Serializer[Any]) -> dict[str, Any]:
    try:
        return validated(serializer)
    except ValidationError as error:
        refusal = validation_refusal(error)
        refusal.problems = [
            Problem(problem.code, problem.message, f"?{problem.pointer.removeprefix('/')}")
            for problem in refusal.problems
        ]
        refusal.pointer = refusal.problems[0].pointer
        raise refusal from error


def shown(data: Any, row: Versioned, *, made: bool = False) -> Response:
    """A row as it stands, with its ETag: 201 where it was made now, else 200."""
    status = http.HTTPStatus.CREATED if made else http.HTTPStatus.OK
    return Response(data, status=status, headers={"ETag": etag(row)})
