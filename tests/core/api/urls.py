"""Addresses that only tests know: one view for each thing that the ground promises."""

from typing import Any

from django.db import DataError, IntegrityError, OperationalError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.api import fields
from apps.core.api.serializers import PageQuery, StrictSerializer
from apps.core.api.views import ApiView
from apps.core.errors import Conflict, Forbidden, Invalid, Missing, Stale


class Inner(StrictSerializer):
    word = fields.TextField(max_length=5)


class Everything(StrictSerializer):
    id = serializers.IntegerField(read_only=True)
    text = fields.TextField(required=False, max_length=20)
    number = fields.NumberField(required=False, min_value=-10)
    exact = fields.ShareField(required=False)
    whole = fields.WholeField(required=False)
    flag = fields.FlagField(required=False)
    ident = fields.IdField(required=False)
    slug = fields.SlugField(required=False)
    learner = fields.LearnerField(required=False)
    scope = fields.ScopeField(required=False)
    word = fields.ChoiceField(choices=["one", "two"], required=False)
    inner = Inner(required=False)
    inners = serializers.ListField(child=Inner(), required=False)
    anything = serializers.JSONField(required=False)


class Echo(ApiView):
    scope = "retrieve"
    query = {"GET": PageQuery}

    def get(self, _request: Request) -> Response:
        return Response(self.parameters)

    def post(self, _request: Request) -> Response:
        return Response(self.body(Everything))


class Closed(ApiView):
    """A view whose author forgot to say what it asks for."""

    def get(self, _request: Request) -> Response:
        return Response({})


_RAISED: dict[str, Exception] = {
    "invalid": Invalid("wrong", "this is wrong", "/place"),
    "conflict": Conflict("exists", "it exists", extra={"id": 7}),
    "missing": Missing("not_found", "there is none"),
    "forbidden": Forbidden("forbidden", "not for you"),
    "stale": Stale("stale", "it changed"),
    "defect": RuntimeError("a secret detail"),
    "outage": OperationalError("host db.internal"),
    "data": DataError("value of column x"),
    "race": IntegrityError("constraint y"),
}


class Raise(ApiView):
    scope = "retrieve"

    def get(self, _request: Request, *, what: str) -> Response:
        raise _RAISED[what]


def plain(request: HttpRequest, **_: Any) -> HttpResponseBase:
    raise RuntimeError("below every API view")


urlpatterns = [
    path("api/v1/echo", Echo.as_view()),
    path("api/v1/closed", Closed.as_view()),
    path("api/v1/raise/<slug:what>", Raise.as_view()),
    path("api/v1/names/<name:slug>", Closed.as_view()),
    path("api/v1/numbers/<number:number>", Closed.as_view()),
    path("api/plain", plain),
]
