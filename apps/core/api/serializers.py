"""Serializers that refuse what they do not know."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from apps.core.api import fields


class StrictSerializer(serializers.Serializer[Any]):
    """What a request may say: an unknown field, or one that only answers carry, is refused (api.md, Errors).

    ``fixed`` names fields of a parent that this serializer shows and does not take.
    """

    fixed: ClassVar[tuple[str, ...]] = ()

    def get_fields(self) -> dict[str, Any]:
        """The declared fields, those of ``fixed`` only to read."""
        declared = super().get_fields()
        for name in self.fixed:
            field = declared[name]
            field.read_only, field.required, field.default = True, False, serializers.empty
        return declared

    def to_internal_value(self, data: Any) -> Any:
        unknown = self._unknown(data) if isinstance(data, Mapping) else {}
        try:
            values = super().to_internal_value(data)
        except ValidationError as error:
            if unknown and isinstance(error.detail, dict):
                raise ValidationError({**error.detail, **unknown}) from error
            raise
        if unknown:
            raise ValidationError(unknown)
        return values

    def _unknown(self, data: Mapping[str, Any]) -> dict[str, list[ErrorDetail]]:
        known = self.fields
        refused = [name for name in data if name not in known or known[name].read_only]
        return {name: [self._refused(name)] for name in refused}

    def _refused(self, name: str) -> ErrorDetail:
        if name in self.fields:
            return ErrorDetail("this field is only read, never written", "field_not_writable")
        return ErrorDetail(
            f"there is no field of this name; there are {', '.join(self._writable())}", "unknown_field"
        )

    def _writable(self) -> list[str]:
        return [name for name, field in self.fields.items() if not field.read_only] or ["none"]


class NothingSerializer(StrictSerializer):
    """A request that says nothing more than its address: no body, or an empty object."""


class ProblemErrorSerializer(serializers.Serializer[Any]):
    """One thing that is wrong: a JSON pointer into the body (`?name` for a query parameter), and why."""

    pointer = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """Every error (RFC 9457). Some codes bring members of their own, such as `id` with `exists`."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    errors = ProblemErrorSerializer(many=True)  # type: ignore[assignment]  # a field, not DRF's property
    request_id = serializers.CharField()


def page_of(item: type[serializers.BaseSerializer[Any]], name: str) -> type[serializers.Serializer[Any]]:
    """The serializer of a page of ``item``, for the schema; ``name`` is the component's."""
    members = {
        "results": item(many=True),
        "next": serializers.CharField(
            allow_null=True, help_text="The cursor of the next page; null on the last."
        ),
    }
    return type(
        name, (PageSerializer,), {**members, "__doc__": f"A page of {name.removesuffix('Page').lower()}s."}
    )


class PageSerializer(serializers.Serializer[Any]):
    """What every page is, so that the schema knows a list."""


class State(StrEnum):
    """Which rows of a list: those in use, those retired, or both."""

    CURRENT = "current"
    ARCHIVED = "archived"
    ANY = "any"


class PageQuery(StrictSerializer):
    """The query parameters of every list; a list's own filters extend it."""

    cursor = fields.TextField(required=False, help_text="`next` of the page before.")
    limit = serializers.IntegerField(
        required=False, default=50, min_value=1, max_value=200, help_text="Rows on a page."
    )


class RetirableQuery(PageQuery):
    """A list whose rows can be archived."""

    state = fields.ChoiceField(
        choices=[state.value for state in State],
        required=False,
        default=State.CURRENT.value,
        help_text="Rows in use (`current`), retired ones (`archived`), or `any`.",
    )
