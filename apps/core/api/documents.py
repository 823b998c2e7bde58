"""The schema as a document to download."""

from typing import Any

from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request
from rest_framework.response import Response


class SchemaView(SpectacularAPIView):
    """The OpenAPI schema, the same whatever the query says.

    The library would put its ``version`` into the name of the file, and with it any character into a header.
    """

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The schema, as YAML or JSON."""
        answer: Response = self._get_schema_response(request)  # type: ignore[no-untyped-call]  # untyped
        return answer

    def _get_version_parameter(self, request: Request) -> None:
        return None
