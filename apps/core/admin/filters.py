"""Filters of lists whose choices are words known beforehand: none asks the database what there is."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter


class WordFilter(DropdownFilter):
    """One of ``words`` (value, name); by default it is what the column of ``parameter_name`` holds."""

    words: Sequence[tuple[str, str]] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(self.words)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset if value not in dict(self.words) else self.narrowed(queryset, str(value))

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        """``rows`` of which ``value``, one of the words, is true."""
        return rows.filter(**{str(self.parameter_name): value})
