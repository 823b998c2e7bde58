"""What the API says of dials, and takes for them."""

from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework import serializers

from apps.core.api import fields
from apps.core.api.serializers import StrictSerializer
from apps.dials.models import Dial
from apps.rules.dials import DIALS
from apps.rules.dials.declaration import PROVIDERS
from apps.rules.dials.declaration import Dial as Declaration


class DialValueSerializer(serializers.Serializer[Any]):
    """A dial's value: everywhere (`space` null), in one space, or, as it begins, in the spaces of a provider."""

    space = serializers.CharField(
        allow_null=True, help_text="Null, a space (`provider/model`), or a provider."
    )
    value = serializers.JSONField(help_text="The value in force: a number, true or false, or a word.")
    default_value = serializers.JSONField(help_text="What it is where nobody turned it.")
    changed_at = serializers.DateTimeField(allow_null=True)
    changed_by = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)


class DialSerializer(serializers.Serializer[Any]):
    """One dial: what it is, its bounds, and its values."""

    key = serializers.CharField()
    group = serializers.CharField()
    type = serializers.ChoiceField(choices=["bool", "int", "float", "Decimal", "str"])
    help = serializers.CharField()
    unit = serializers.CharField()
    section = serializers.CharField(help_text="The section of the rules that reads it.")
    bounds = serializers.CharField(help_text="What it takes, in words.")
    least = serializers.FloatField(allow_null=True)
    most = serializers.FloatField(allow_null=True)
    choices = serializers.ListField(child=serializers.CharField())
    by_space = serializers.BooleanField(help_text="Whether it is turned for each space apart.")
    values = DialValueSerializer(many=True)


class DialsSerializer(serializers.Serializer[Any]):
    """All dials, and the version of them together."""

    version = serializers.IntegerField()
    dials = DialSerializer(many=True)


class SpaceField(fields.TextField):
    """A space's name. A bare provider names none, and a dial turned for it would turn nothing."""

    default_error_messages = {
        "invalid_space": "this is no space: provider/model, as in local/all-MiniLM-L6-v2"
    }

    def to_internal_value(self, data: object) -> str:
        provider, slash, model = super().to_internal_value(data).partition("/")
        if not (provider and slash and model):
            self.fail("invalid_space")
        return f"{provider}/{model}"


class DialChangeSerializer(StrictSerializer):
    """A dial's new value, and why."""

    value = serializers.JSONField()
    reason = fields.TextField(max_length=1000)
    space = SpaceField(required=False, max_length=120, help_text="For a dial by space, and only for one.")


class NamedDialChangeSerializer(StrictSerializer):
    """A dial's new value, among others."""

    key = fields.TextField(max_length=80)
    value = serializers.JSONField()
    space = SpaceField(required=False, max_length=120, help_text="For a dial by space, and only for one.")


class DialChangesSerializer(StrictSerializer):
    """New values of several dials, taken together or not at all, and why."""

    changes = serializers.ListField(child=NamedDialChangeSerializer(), min_length=1, max_length=200)
    reason = fields.TextField(max_length=1000)


def shown_dial(dial: Declaration, rows: Iterable[Dial]) -> dict[str, Any]:
    """One dial as the API shows it; ``rows`` are all that are stored of any dial."""
    stored = {row.space or None: row for row in rows if row.key == dial.key}
    spaces: list[str | None] = [*PROVIDERS, *filter(None, stored)] if dial.by_space else [None]
    return {
        "key": dial.key,
        "group": dial.group,
        "type": dial.type.__name__,
        "help": dial.help,
        "unit": dial.unit,
        "section": dial.section,
        "bounds": dial.bounds,
        "least": None if dial.least is None else float(dial.least),
        "most": None if dial.most is None else float(dial.most),
        "choices": list(dial.choices),
        "by_space": dial.by_space,
        "values": [_value(dial, space, stored) for space in dict.fromkeys(spaces)],
    }


def _value(dial: Declaration, space: str | None, stored: Mapping[str | None, Dial]) -> dict[str, Any]:
    row, default = stored.get(space), dial.to_json(dial.default(space))
    return {
        "space": space,
        "value": default if row is None else row.value,
        "default_value": default,
        "changed_at": row and row.changed_at,
        "changed_by": row.changed_by if row else "",
        "reason": row.reason if row else "",
    }


def shown_dials(rows: list[Dial]) -> dict[str, Any]:
    """All dials as the API shows them, from all that is stored of them."""
    version = max((row.version for row in rows), default=0)
    return {"version": version, "dials": [shown_dial(dial, rows) for dial in DIALS.values()]}
