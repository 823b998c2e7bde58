"""The ground of every admin class: rows are listed and shown, and nothing is written around an action."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.admin import ShowFacets
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet, UUIDField
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import URLPattern, path, reverse
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.views import ChangeList

from apps.core.admin.html import Panel
from apps.core.admin.pages import BoundedPaginator

Method = TypeVar("Method", bound=Callable[..., Any])
_OPTIONS = 20
_COMPARISONS = {"exact", "in", "isnull", "gt", "gte", "lt", "lte", "id"}


def button(word: str, *, permission: str, icon: str = "") -> Callable[[Method], Method]:
    """Make a method of an admin class a button: of a row's page, or of a list's selection.

    ``permission`` names a method ``has_<permission>_permission`` that is asked first.
    """
    return cast(
        "Callable[[Method], Method]", action(description=word, permissions=[permission], icon=icon or None)
    )


class CountedChangeList(ChangeList):
    """A list that says how many rows it found, once: below the table."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.full_result_count = self.result_count


class ReadOnlyAdmin(ModelAdmin):
    """Rows are listed, searched, filtered and shown, at a fixed number of queries; nothing is changed.

    ``audit_kind`` is the ``target_kind`` under which the audit keeps this model's changes; empty where it
    keeps none. ``link_filters`` are fields by which links from other pages filter the list.
    """

    audit_kind = ""
    link_filters: tuple[str, ...] = ()
    actions: Sequence[str] | None = None
    actions_detail: Sequence[str] = ()  # type: ignore[assignment]  # the theme types its default
    list_per_page = 50
    list_max_show_all = 0
    list_filter_submit = True
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    change_form_outer_after_template = "lode/panels.html"  # type: ignore[assignment]  # the theme types its None

    def get_panels(self, request: HttpRequest, obj: Any) -> Sequence[Panel]:
        """What the page of ``obj`` shows below its own fields."""
        return ()

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj = kwargs.get("obj")
        shown = {} if obj is None else {"panels": self.get_panels(request, obj)}
        return super().render_change_form(request, {**context, **shown}, *args, **kwargs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return CountedChangeList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only what the page itself offers: Django would take any lookup on any column, patterns included."""
        if "\x00" in str(value):
            return False
        field, *rest = lookup.split("__")
        columns = {name for column in self.opts.fields for name in (column.name, column.attname)}
        return field not in columns or (field in self._offered() and set(rest) <= _COMPARISONS)

    def _offered(self) -> set[str]:
        """The columns by which a filter or a link narrows the list."""
        declared: Sequence[Any] = self.list_filter
        names = [each[0] if isinstance(each, tuple) else each for each in declared]
        asked = [name if isinstance(name, str) else str(name.parameter_name) for name in names]
        return {name.split("__")[0] for name in asked} | set(self.link_filters)

    def options(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Of ``rows``, those that a field of another page may choose from, in the order of a list."""
        return rows

    def option_text(self, row: Any) -> str:
        """How such a field names a row."""
        return str(row)

    def options_view(self, request: HttpRequest) -> JsonResponse:
        """What a field offers while somebody types into it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = self.options(self.get_queryset(request)).order_by(*self.get_ordering(request), "pk")
        found, _ = self.get_search_results(request, rows, request.GET.get("term", "").replace("\x00", ""))
        page = self.paginator(found, _OPTIONS).get_page(request.GET.get("page"))
        results = [{"id": str(row.pk), "text": self.option_text(row)} for row in page]
        return JsonResponse({"results": results, "pagination": {"more": page.has_next()}})

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_options"
        return [
            path("options/", self.admin_site.admin_view(self.options_view), name=name),
            *super().get_urls(),
        ]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """A pasted id finds its row by the primary key; anything else is looked for in ``search_fields``."""
        found = self._pasted_id(search_term)
        if found is not None:
            return queryset.filter(pk=found), False
        return super().get_search_results(request, queryset, search_term)

    def _pasted_id(self, term: str) -> UUID | None:
        if not isinstance(self.opts.pk, UUIDField):
            return None
        try:
            return UUID(term.strip())
        except ValueError:
            return None

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The audit's events about this row: they know every change, whoever made it and by whatever road."""
        if not self.audit_kind:
            raise Http404(f"no history is kept of {self.opts.verbose_name_plural}")
        query = urlencode({"target_kind": self.audit_kind, "target_id": unquote(object_id)})
        return HttpResponseRedirect(f"{reverse('admin:audit_auditevent_changelist')}?{query}")
