"""Path parts that cannot be: what no id or slug can look like is no address, and answers 404."""

from django.urls import register_converter

from apps.rules.slugs import is_slug

_BIGINT_MOST = 2**63 - 1


class SlugConverter:
    """A slug of Lode, in whatever script (rules.md 2)."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        if not is_slug(value):
            raise ValueError(value)
        return value

    def to_url(self, value: str) -> str:
        return value


class NumberConverter:
    """A positive integer id."""

    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        number = int(value)
        if not 0 < number <= _BIGINT_MOST:
            raise ValueError(value)
        return number

    def to_url(self, value: int) -> str:
        return str(value)


def register() -> None:
    """Make ``<name:…>`` (a slug) and ``<number:…>`` known to Django; once, from AppConfig.ready."""
    register_converter(SlugConverter, "name")
    register_converter(NumberConverter, "number")
