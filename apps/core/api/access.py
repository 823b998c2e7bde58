"""What the caller of one request may do and see; permission classes read it as ``request.auth``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.core.actors import Actor
from apps.core.errors import Forbidden
from apps.rules.scopes import learner_of

if TYPE_CHECKING:
    from rest_framework.views import APIView


@dataclass(frozen=True, slots=True)
class Access:
    """An API key, as far as a request needs it (api.md, Who calls).

    ``topics`` are slugs, and none means every topic; an empty ``learner_prefix`` means every learner.
    """

    key_id: int
    name: str
    scopes: frozenset[str]
    sources: frozenset[str]
    topics: tuple[str, ...]
    learner_prefix: str
    rate_per_minute: int

    @property
    def actor(self) -> Actor:
        """The key as the audit names it. Names of keys repeat, so the id stands beside it."""
        return Actor("key", f"{self.name}#{self.key_id}")

    def sees_topic(self, slug: str) -> bool:
        """Whether the key's topic binding lets it see that topic."""
        return not self.topics or slug in self.topics

    def sees_learner(self, external_id: str) -> bool:
        """Whether the key's learner binding lets it see that learner."""
        return external_id.startswith(self.learner_prefix)

    def sees_scope(self, scope: str) -> bool:
        """Whether rows of that visibility scope are for this key; raises ValueError for what is no scope."""
        learner = learner_of(scope)
        return learner is None or self.sees_learner(learner)


def access_of(request: Request) -> Access:
    """The access of an authenticated request; raises NotAuthenticated where there is none."""
    if not isinstance(request.auth, Access):
        raise NotAuthenticated
    return request.auth


def handled_method(request: Request) -> str:
    """The method whose handler answers: GET for HEAD, which asks for the same answer without its body."""
    return "GET" if request.method == "HEAD" else str(request.method)


class HasScope(BasePermission):
    """The key has the scope that the view names for the request's method, as ``scope`` or in ``scopes``.

    A view that names none answers nobody: forgetting is no way to open a door.
    """

    def has_permission(self, request: Request, view: "APIView") -> bool:
        access, needed = access_of(request), _needed(view, handled_method(request))
        if needed not in access.scopes:
            raise Forbidden("scope_required", f"this key lacks the scope {needed!r} that is needed here")
        return True


def _needed(view: Any, method: str) -> str | None:
    by_method: dict[str, str] = getattr(view, "scopes", {})
    default: str | None = getattr(view, "scope", None)
    return by_method.get(method, default)
