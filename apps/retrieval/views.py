"""Retrieval over REST (api.md, Retrieval)."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clients import queries as clients
from apps.core.api.access import Access
from apps.core.api.problems import Unavailable, missing
from apps.core.api.views import ApiView
from apps.core.errors import Refusal
from apps.embeddings.errors import EmbeddingError, EmbeddingInTransactionError
from apps.retrieval import actions, queries, searches, serializers
from apps.retrieval.queries import Setting
from apps.retrieval.questions import Question
from apps.retrieval.searches import Filter, NoSpaceError
from apps.rules.slugs import is_slug
from apps.rules.words import EdgeType, Provenance
from apps.tutoring.models import Retrieval


class SettingView(ApiView):
    """An address whose body names a topic or a session; both are read while the key is."""

    scope = "retrieve"
    may_miss = True
    setting: Setting
    _unreadable: Exception | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """A body that cannot be read is said to those alone who may ask."""
        super().initial(request, *args, **kwargs)
        if self._unreadable is not None:
            raise self._unreadable

    def find_access(self, key: str, request: Request) -> Access | None:
        """Know the caller and, in the same round trip, what the body speaks of."""
        access, row = clients.access_and(key, queries.SETTING, queries.setting_params(**self._named(request)))
        if row is not None:
            self.setting = Setting(*row)
        return access

    def _named(self, request: Request) -> dict[str, Any]:
        """The topic and session that the body names, where they can be some; the serializer refuses others."""
        try:
            body = request.data
        except (Refusal, APIException) as error:
            self._unreadable = error
            return {}
        topic, session = (body.get(name) if isinstance(body, dict) else None for name in ("topic", "session"))
        return {
            "topic": topic if isinstance(topic, str) and is_slug(topic) else None,
            "session": _as_id(session),
        }


def _as_id(given: Any) -> UUID | None:
    try:
        return UUID(given) if isinstance(given, str) else None
    except ValueError:
        return None


class RetrieveView(SettingView):
    """What a tutor should know for one turn."""

    @extend_schema(request=serializers.QuestionSerializer, responses=serializers.RetrievalSerializer)
    def post(self, _request: Request) -> Response:
        """Retrieve. The answer is logged: a turn names it by `retrieval`."""
        question = Question(**self.body(serializers.QuestionSerializer))
        answer = actions.retrieve(question=question, access=self.access, setting=self.setting, now=self.now)
        return Response(answer)


class MatchView(SettingView):
    """A search by meaning."""

    @extend_schema(request=serializers.MatchSerializer, responses=serializers.MatchesSerializer)
    def post(self, _request: Request) -> Response:
        """Find the entries nearest to a text or a vector. 503 where the embedding provider fails."""
        body = self.body(serializers.MatchSerializer)
        text, vector = body.pop("text", None), body.pop("vector", None)
        try:
            found = searches.match(
                text=text, vector=vector, where=Filter(**body), access=self.access, setting=self.setting
            )
        except EmbeddingInTransactionError:
            raise
        except (EmbeddingError, NoSpaceError) as error:
            detail = "no vector could be had for the text; search by name, or try again in a moment"
            raise Unavailable("embedding_unavailable", detail, extra={"retry_after": 10}) from error
        return Response(found)


class MatchConceptsView(SettingView):
    """A search by name."""

    @extend_schema(
        request=serializers.MatchConceptsSerializer, responses=serializers.ConceptMatchesSerializer
    )
    def post(self, _request: Request) -> Response:
        """Find the entries of concepts, by slug or alias. No embedding takes part."""
        body = self.body(serializers.MatchConceptsSerializer)
        concepts = body.pop("concepts")
        return Response(
            searches.match_concepts(
                concepts=concepts, where=Filter(**body), access=self.access, setting=self.setting
            )
        )


class WalkView(ApiView):
    """A walk over edges."""

    scope = "retrieve"
    query = {"GET": serializers.WalkQuery}

    @extend_schema(responses=serializers.WalkSerializer)
    def get(self, _request: Request, *, id: UUID) -> Response:  # noqa: A002 - the address's word
        """Where the edges from an entry lead. It counts as no traversal."""
        asked = {"min_confidence": None, "types": None, **self.parameters}
        return Response(searches.walk(start=id, access=self.access, **asked))


class VisualView(ApiView):
    """The visual of a concept."""

    scope = "retrieve"

    @extend_schema(responses=serializers.VisualSerializer)
    def get(self, _request: Request, *, concept: str) -> Response:
        """The one visual record of a concept, by slug or alias."""
        return Response(searches.visual(concept=concept))


class RetrievalView(ApiView):
    """A past retrieval."""

    scope = "retrieve"

    @extend_schema(responses=serializers.RetrievalSerializer)
    def get(self, _request: Request, *, id: UUID) -> Response:  # noqa: A002 - the address's word
        """A retrieval as it was answered."""
        found = Retrieval.objects.filter(pk=id).first()
        if found is None or not searches.sees_retrieval(self.access, found):
            raise missing()
        return Response(found.response)


class GraphView(ApiView):
    """The graph of a topic."""

    scope = "author"
    query = {"GET": serializers.GraphQuery}

    @extend_schema(responses=serializers.GraphSerializer)
    def get(self, _request: Request, *, slug: str) -> Response:
        """The rows of a topic and the edges between them, for drawing."""
        types = self.parameters.get("types", list(EdgeType))
        provenance = self.parameters.get("provenance", list(Provenance))
        found = None
        if self.access.sees_topic(slug):
            found = queries.graph(topic=slug, types=types, provenance=provenance)
        if found is None:
            raise missing()
        return Response(found)
