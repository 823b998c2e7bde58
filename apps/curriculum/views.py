"""Import and export over REST (api.md, Curriculum).

A key that is bound to topics imports into these alone, and exports these alone. Concepts, tutor moves and
drawings belong to all topics, so it may import them as it may create them.
"""

import tempfile
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.catalog.models import Topic
from apps.clients.idempotency import idempotent
from apps.core.api.parsers import read_bounded
from apps.core.api.problems import Malformed
from apps.core.api.views import ApiView
from apps.core.ids import uuid7
from apps.curriculum.actions import import_curriculum
from apps.curriculum.bundle.sources import of_bytes
from apps.curriculum.bundle.writing import Format
from apps.curriculum.queries import export_curriculum
from apps.curriculum.serializers import BundleSerializer, ExportQuery, ImportQuery, ReportSerializer
from apps.dials.queries import get_dials

MAX_BUNDLE_BYTES = 20 * 1024 * 1024
_IN_MEMORY_BYTES = 1024 * 1024
_MEDIA_TYPES = {Format.JSON: "application/json", Format.ZIP: "application/zip"}


class BundleParser(BaseParser):
    """The bytes of a bundle as they are: the import reads them, as strictly as a body, record by record."""

    media_type = _MEDIA_TYPES[Format.JSON]

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return read_bounded(stream, MAX_BUNDLE_BYTES)


class ZipParser(BundleParser):
    """The same for a zip of sheets."""

    media_type = _MEDIA_TYPES[Format.ZIP]


class BytesParser(BundleParser):
    """The same for a client that knows no zips, as those that are generated from the schema."""

    media_type = "application/octet-stream"


class ZipRenderer(JSONRenderer):
    """Lets a caller accept a zip; problems are JSON all the same."""

    media_type = _MEDIA_TYPES[Format.ZIP]
    format = Format.ZIP.value
    charset = None


class CurriculumImport(ApiView):
    """The import of a bundle."""

    scope = "author"
    query = {"POST": ImportQuery}
    parser_classes = [BundleParser, ZipParser, BytesParser]
    max_body_bytes = MAX_BUNDLE_BYTES

    @extend_schema(
        operation_id="curriculum_import",
        request={
            _MEDIA_TYPES[Format.JSON]: BundleSerializer,
            BytesParser.media_type: OpenApiTypes.BINARY,
        },
        responses=ReportSerializer,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Import a bundle, JSON or a zip of CSV sheets, of at most 20 MiB: all of it, or nothing.
        A zip may also come as `application/zip`.

        422 `invalid_curriculum` lists every problem with its place: a pointer into the document, or
        `/entries.csv/5/title` for the column of a row. A key that is bound to topics imports into these
        alone (`topic_not_bound`); concepts, tutor moves and drawings belong to all.
        """
        if self._has_no_body():
            raise Malformed("bundle_expected", "the body is a bundle, JSON or zip, and there is none")
        body: Any = request.data  # the parser's bytes, whatever the stubs say
        report = import_curriculum(
            sources=[of_bytes(body, "body")],
            dials=get_dials(settings.LODE_EMBEDDING_PROVIDER),
            actor=self.actor,
            now=self.now,
            run=uuid7(),
            dry_run=self.parameters["dry_run"],
            topics=self.access.topics,
        )
        return Response(ReportSerializer(report).data)


class CurriculumExport(ApiView):
    """The export of a bundle."""

    scope = "author"
    may_miss = True
    query = {"GET": ExportQuery}
    renderer_classes = [JSONRenderer, ZipRenderer]

    @extend_schema(
        operation_id="curriculum_export",
        responses={
            (200, _MEDIA_TYPES[Format.JSON]): BundleSerializer,
            (200, _MEDIA_TYPES[Format.ZIP]): OpenApiTypes.BINARY,
        },
    )
    def get(self, _request: Request) -> FileResponse:
        """Export what the key may see, or one topic of it, as a bundle that imports whole.

        Stored values, archived rows included; never a learner's. A key that is bound to topics gets what
        belongs to these. The same curriculum gives the same bytes.
        """
        form, topics = Format(self.parameters["format"]), self._topics()
        stream = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115 - the response closes it
        try:
            export_curriculum(stream=stream, form=form, topics=topics)
        except BaseException:
            stream.close()
            raise
        stream.seek(0)
        name = f"curriculum.{form}"
        return FileResponse(stream, content_type=_MEDIA_TYPES[form], as_attachment=True, filename=name)

    def _topics(self) -> list[str] | None:
        if "topic" in self.parameters:
            rows = Topic.objects.visible_to(self.access.topics).filter(slug=self.parameters["topic"])
            return [self.one(rows).slug]
        return list(self.access.topics) or None
