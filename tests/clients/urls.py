"""Addresses that only tests know: a write that can be retried."""

import time

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from apps.catalog.actions import create_topic
from apps.clients.idempotency import idempotent
from apps.core.api import fields
from apps.core.api.serializers import StrictSerializer
from apps.core.api.views import ApiView
from apps.core.errors import Conflict


class Body(StrictSerializer):
    slug = fields.SlugField()
    title = fields.TextField(required=False, default="t")


class Write(ApiView):
    scope = "write"

    @idempotent
    def post(self, _request: Request) -> Response:
        body = self.body(Body)
        topic, made = create_topic(**body, actor=self.actor, now=self.now)
        if body["slug"] == "slow":
            time.sleep(0.3)
        if body["slug"] == "fail":
            raise RuntimeError("after the write")
        if body["slug"] == "late" or not made:
            raise Conflict("late", "refused after the write")
        return Response({"slug": topic.slug, "id": topic.pk}, status=201, headers={"ETag": '"1"'})


urlpatterns = [path("api/v1/write", Write.as_view()), path("api/v1/write/other", Write.as_view())]
