"""Fields that take a JSON value for what it is: `true` is no 1.0, 1 is no text, and no text is trimmed."""

import unicodedata
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.rules.scopes import LEARNER_PATTERN, SCOPE_PATTERN, is_learner_id, is_scope
from apps.rules.slugs import MAX_CHARS, UNANCHORED, is_slug, slugify

_INVISIBLE = {"Cf", "Cc", "Zs", "Zl", "Zp"}


class TextField(serializers.CharField):
    """A text, kept exactly as it came. Blank means: nothing in it can be seen."""

    default_error_messages = {
        "invalid": "this is no text",
        "blank": "this text holds nothing that can be seen",
        "max_length": "this text is longer than the {max_length} characters that fit here",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **kwargs})

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """As CharField's, but for blankness, which is also that of zero-width characters."""
        if isinstance(data, str) and data and not self.allow_blank and _is_blank(data):
            self.fail("blank")
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data


def _is_blank(text: str) -> bool:
    return all(unicodedata.category(char) in _INVISIBLE for char in text)


class NumberField(serializers.FloatField):
    """A finite number."""

    default_error_messages = {"invalid": "this is no number"}

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return float(data)


@extend_schema_field({"type": "number", "format": "double", "minimum": 0, "maximum": 1})
class ShareField(serializers.Field[Decimal, int | float, float, Decimal]):
    """A number from 0 to 1, kept as a decimal of ``places`` places: a confidence (6), an importance (3)."""

    default_error_messages = {
        "invalid": "this is no number",
        "out_of_range": "this number lies outside 0 to 1",
    }

    def __init__(self, *, places: int = 6, **kwargs: Any) -> None:
        self._unit = Decimal(1).scaleb(-places)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        if not 0 <= data <= 1:
            self.fail("out_of_range")
        return abs(Decimal(str(data)).quantize(self._unit, ROUND_HALF_UP))  # -0 is 0

    def to_representation(self, value: Decimal) -> float:
        return float(value)


class WholeField(serializers.IntegerField):
    """An integer."""

    default_error_messages = {"invalid": "this is no integer"}

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


class FlagField(serializers.BooleanField):
    """`true` or `false`, and nothing that resembles them."""

    default_error_messages = {"invalid": "this is neither true nor false"}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class IdField(serializers.UUIDField):
    """A UUID, written with hyphens."""

    default_error_messages = {"invalid": "this is no UUID"}

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str) or len(data) != 36:
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field({"type": "string", "maxLength": MAX_CHARS})
class SlugField(TextField):
    """A slug as it must be sent (rules.md 2): the error names the one that a near miss would be."""

    default_error_messages = {
        "invalid_slug": "{value!r} is no slug{hint}",
        "reserved_slug": "{value!r} is reserved",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": MAX_CHARS, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if text == UNANCHORED:
            self.fail("reserved_slug", value=text)
        if len(text) <= MAX_CHARS and not is_slug(text):
            nearest = slugify(text)
            self.fail("invalid_slug", value=text, hint=f"; {nearest!r} would be one" if nearest else "")
        return text


@extend_schema_field({"type": "string", "maxLength": MAX_CHARS, "pattern": f"^{LEARNER_PATTERN}$"})
class LearnerField(TextField):
    """A learner's external id (rules.md 1)."""

    default_error_messages = {
        "invalid_learner": "this is no learner id: 1 to 100 of A-Z a-z 0-9 . _ @ -, a letter or digit first"
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not is_learner_id(text):
            self.fail("invalid_learner")
        return text


@extend_schema_field({"type": "string", "maxLength": 108, "pattern": SCOPE_PATTERN})
class ScopeField(TextField):
    """A visibility scope (rules.md 1)."""

    default_error_messages = {
        "invalid_scope": "this is no scope: public, tutor, visual or student:<learner id>"
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not is_scope(text):
            self.fail("invalid_scope")
        return text


class ChoiceField(serializers.ChoiceField):
    """One of a closed set of words."""

    default_error_messages = {"invalid_choice": "{input!r} is none of those that can stand here"}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid_choice", input=data)
        return super().to_internal_value(data)
