"""Topics and concepts: list, read, create, change, archive, restore (api.md, Curriculum)."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.catalog import actions
from apps.catalog.models import Concept, Topic
from apps.catalog.querysets import ConceptQuerySet, TopicQuerySet
from apps.catalog.serializers import ConceptPage, ConceptQuery, ConceptSerializer, TopicPage, TopicSerializer
from apps.clients.idempotency import idempotent
from apps.core.api.access import Access
from apps.core.api.etags import expected_version
from apps.core.api.serializers import RetirableQuery
from apps.core.api.views import ApiView, shown
from apps.core.errors import Forbidden


class TopicView(ApiView):
    """What the addresses of topics share."""

    scope = "author"

    def visible(self) -> TopicQuerySet:
        """The topics that the key's binding lets it see."""
        return Topic.objects.visible_to(self.access.topics)

    def topic(self, slug: str) -> Topic:
        """One of them."""
        return self.one(self.visible().filter(slug=slug))

    def shown(self, topic: Topic, *, made: bool = False) -> Response:
        """A topic as an answer."""
        return shown(TopicSerializer(topic).data, topic, made=made)


class TopicList(TopicView):
    """Topics."""

    query = {"GET": RetirableQuery}

    @extend_schema(responses=TopicPage)
    def get(self, _request: Request) -> Response:
        """The topics that the key may see, oldest first."""
        rows = self.visible().in_state(self.parameters["state"])
        return self.page(rows, order=["id"], show=lambda page: TopicSerializer(page, many=True).data)

    @extend_schema(request=TopicSerializer, responses={201: TopicSerializer, 200: TopicSerializer})
    @idempotent
    def post(self, _request: Request) -> Response:
        """Create a topic. 200 where it is there already, just so; 409 `exists` where it differs."""
        given = self.body(TopicSerializer)
        _refuse_unbound(self.access, given["slug"])
        topic, made = actions.create_topic(**given, actor=self.actor, now=self.now)
        return self.shown(topic, made=made)


class TopicDetail(TopicView):
    """One topic."""

    has_etag = True

    @extend_schema(responses=TopicSerializer)
    def get(self, _request: Request, *, slug: str) -> Response:
        """Read a topic."""
        return self.shown(self.topic(slug))

    @extend_schema(request=TopicSerializer, responses=TopicSerializer)
    def patch(self, request: Request, *, slug: str) -> Response:
        """Change a topic. A new slug changes its address; keys that are bound to it follow."""
        topic, changes = self.topic(slug), self.changes(TopicSerializer)
        if changes.get("slug", slug) != slug:
            _refuse_unbound(self.access, changes["slug"])
        version = expected_version(request, topic)
        return self.shown(
            actions.change_topic(
                topic=topic, changes=changes, expected_version=version, actor=self.actor, now=self.now
            )
        )


class TopicArchive(TopicView):
    """Archive a topic: retrieval answers 404 for it. Twice is once."""

    has_etag = True
    verb = staticmethod(actions.archive)

    @extend_schema(request=None, responses=TopicSerializer)
    @idempotent
    def post(self, request: Request, *, slug: str) -> Response:
        self.nothing()
        topic = self.topic(slug)
        version = expected_version(request, topic)
        return self.shown(self.verb(row=topic, expected_version=version, actor=self.actor, now=self.now))


class TopicRestore(TopicArchive):
    """Bring an archived topic back. Twice is once."""

    verb = staticmethod(actions.restore)


def _refuse_unbound(access: Access, slug: str) -> None:
    """A bound key makes no topic that it could not see, whether there is one of that slug or not."""
    if not access.sees_topic(slug):
        raise Forbidden(
            "topic_not_bound", f"this key is bound to the topics {', '.join(access.topics)}", "/slug"
        )


class ConceptView(ApiView):
    """What the addresses of concepts share: every author sees every concept, since all topics share them."""

    scope = "author"

    def rows(self) -> ConceptQuerySet:
        """All concepts, with their aliases."""
        return Concept.objects.with_aliases()

    def concept(self, slug: str) -> Concept:
        """One of them, by its canonical slug."""
        return self.one(self.rows().filter(slug=slug))

    def shown(self, concept: Concept, *, made: bool = False) -> Response:
        """A concept as an answer, with its aliases as they stand."""
        found = self.rows().get(pk=concept.pk)
        return shown(ConceptSerializer(found).data, found, made=made)


class ConceptList(ConceptView):
    """Concepts."""

    query = {"GET": ConceptQuery}

    @extend_schema(responses=ConceptPage)
    def get(self, _request: Request) -> Response:
        """The concepts, oldest first."""
        given = self.parameters
        rows = self.rows().in_state(given["state"])
        rows = rows.named(given["name"]) if "name" in given else rows
        rows = rows.filter(status=given["status"]) if "status" in given else rows
        return self.page(rows, order=["id"], show=lambda page: ConceptSerializer(page, many=True).data)

    @extend_schema(request=ConceptSerializer, responses={201: ConceptSerializer, 200: ConceptSerializer})
    @idempotent
    def post(self, _request: Request) -> Response:
        """Create a concept. 200 where it is there already, just so; 409 `exists` or `name_taken` where not."""
        given = self.body(ConceptSerializer)
        concept, made = actions.create_concept(**given, actor=self.actor, now=self.now)
        return self.shown(concept, made=made)


class ConceptDetail(ConceptView):
    """One concept."""

    has_etag = True

    @extend_schema(responses=ConceptSerializer)
    def get(self, _request: Request, *, slug: str) -> Response:
        """Read a concept, by its canonical slug."""
        concept = self.concept(slug)
        return shown(ConceptSerializer(concept).data, concept)

    @extend_schema(request=ConceptSerializer, responses=ConceptSerializer)
    def patch(self, request: Request, *, slug: str) -> Response:
        """Change a concept. `aliases` is the whole list; a new slug moves every entry that named the old one."""
        concept = self.concept(slug)
        changes: dict[str, Any] = self.changes(ConceptSerializer)
        version = expected_version(request, concept)
        return self.shown(
            actions.change_concept(
                concept=concept, changes=changes, expected_version=version, actor=self.actor, now=self.now
            )
        )


class ConceptArchive(ConceptView):
    """Archive a concept: it is expected no more, and no new entry finds it. Twice is once."""

    has_etag = True
    verb = staticmethod(actions.archive)

    @extend_schema(request=None, responses=ConceptSerializer)
    @idempotent
    def post(self, request: Request, *, slug: str) -> Response:
        self.nothing()
        concept = self.concept(slug)
        version = expected_version(request, concept)
        return self.shown(self.verb(row=concept, expected_version=version, actor=self.actor, now=self.now))


class ConceptRestore(ConceptArchive):
    """Bring an archived concept back. Twice is once."""

    verb = staticmethod(actions.restore)
