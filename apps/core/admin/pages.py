"""Lists that cost the same at ten rows and at ten million."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from django.core.paginator import Paginator
from django.db.models import QuerySet

COUNTED_ROWS = 10_000

if TYPE_CHECKING:
    _Paginator = Paginator[Any]
else:
    _Paginator = Paginator


class BoundedPaginator(_Paginator):
    """Counts to ``COUNTED_ROWS`` and no further: counting a large table takes longer than showing it.

    Pages end there too: what is older is found by search and filters.
    """

    template_name = "lode/pagination.html"

    @cached_property
    def count(self) -> int:
        """How many rows there are, or ``COUNTED_ROWS`` where there are more."""
        return min(self._counted, COUNTED_ROWS)

    @property
    def is_cut(self) -> bool:
        """Whether there are more rows than were counted."""
        return self._counted > COUNTED_ROWS

    @cached_property
    def _counted(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by().values("pk")[: COUNTED_ROWS + 1].count()
