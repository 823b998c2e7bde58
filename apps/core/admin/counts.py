"""Numbers beside rows: counted for the rows of one page, not for the whole table."""

from typing import Any

from django.db.models import Count, ForeignObjectRel, Model, OuterRef, Subquery
from django.db.models.functions import Coalesce


def related_count(model: type[Model], relation: str) -> Any:
    """An annotation: how many rows hang on each row of ``model`` by the reverse ``relation``.

    A subquery for each row shown leans on the foreign key's index; a join would group the whole table.
    """
    reverse = model._meta.get_field(relation)
    if not isinstance(reverse, ForeignObjectRel):
        raise TypeError(f"{relation} is no reverse relation of {model.__name__}")
    name = reverse.field.name
    rows = reverse.related_model._default_manager.filter(**{name: OuterRef("pk")})
    return Coalesce(Subquery(rows.order_by().values(name).annotate(total=Count("pk")).values("total")), 0)
