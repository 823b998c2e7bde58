"""Pages on which people write: they parse, call one action, and render what it says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from apps.audit.models import AuditEvent
from apps.core.actors import Actor
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin, button
from apps.core.admin.forms import AuthoringForm
from apps.core.errors import Conflict, Refusal, Stale

MOST_AT_ONCE = 500
_REFUSAL = "lode_refusal"


def actor_of(request: HttpRequest) -> Actor:
    """Whoever is logged in, as the audit names people."""
    return Actor("user", request.user.get_username())


@dataclass(frozen=True, slots=True)
class Verb:
    """What a button does to a row: its word, how that is told afterwards, and what it brings about."""

    word: str
    done: str
    means: str
    icon: str


ARCHIVE = Verb("Archive", "archived", "It is kept, with its history, and no longer found.", "archive")
RESTORE = Verb("Restore", "restored", "It is found again.", "unarchive")


class AuthoringAdmin(ReadOnlyAdmin):
    """Rows are written by actions alone; a refused one gives back the page with everything that was typed.

    Django's own log of changes stays empty: the audit sees every change, and what it holds of a learner
    can be forgotten.
    """

    form: type[AuthoringForm]

    def create(self, request: HttpRequest, form: Any) -> tuple[Any, bool]:
        """Call the action that makes a row of what was typed; the row, and whether it was made now."""
        raise NotImplementedError

    def change(self, request: HttpRequest, form: Any, changes: dict[str, Any]) -> Any:
        """Call the action that changes the form's row; ``changes`` holds what the author changed."""
        raise NotImplementedError

    def is_authored(self, obj: Any) -> bool:
        """Whether this row is one for authors at all."""
        return True

    def is_written(self, obj: Any) -> bool:
        """Whether this row may be changed as it is."""
        return self.is_authored(obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may(request, "add")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._may(request, "change") and (obj is None or self.is_written(obj))

    def _may(self, request: HttpRequest, verb: str) -> bool:
        return request.user.has_perm(f"{self.opts.app_label}.{verb}_{self.opts.model_name}")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """The page. A refusal undoes everything, and the page comes again and shows it."""
        try:
            with transaction.atomic():
                return super().changeform_view(request, object_id, form_url, extra_context)
        except Refusal as refusal:
            setattr(request, _REFUSAL, refusal)
            return super().changeform_view(request, object_id, form_url, extra_context)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The author's form; where nothing may be changed, one with nothing in it: the page shows the row."""
        if change and not self.has_change_permission(request, obj):
            return super().get_form(request, obj, change=change, **{**kwargs, "form": ModelForm})
        made = cast("type[AuthoringForm]", super().get_form(request, obj, change=change, **kwargs))
        made.refusal = getattr(request, _REFUSAL, None)
        return made

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        """The row as the action leaves it. Here, because Django goes on with what this gives back."""
        if not change:
            return self._created(*self.create(request, form))
        if form.conflicts():
            raise Stale("stale", self._who_was_first(form.instance))
        return self.change(request, form, form.changes()) if form.has_changed() else form.instance

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        """Nothing is left to save: the action has done it."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Nor is anything beside it."""

    def _created(self, row: Any, made: bool) -> Any:
        if not made:
            raise Conflict("exists", "There is one already that says the same.", extra={"id": row.pk})
        return row

    def _who_was_first(self, row: Any) -> str:
        event = AuditEvent.objects.about(self.audit_kind, row.pk).first()
        who = f"{event.actor} ({event.verb} at {html.moment(event.at)})" if event else "Somebody"
        return (
            f"{who} changed this while you were editing it. Nothing of yours is lost: under each field that "
            "differs stands what is stored now. Save again to keep yours, or take over what is stored."
        )

    def ask(
        self, request: HttpRequest, object_id: str, verb: Verb, perform: Callable[..., Any]
    ) -> HttpResponse:
        """A page that asks first (a link must not write); sent, it does it, and says so."""
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404(f"there is no such {self.opts.verbose_name}")
        if not self.is_authored(row):
            raise PermissionDenied
        page = HttpResponseRedirect(html.page_of(f"{self.opts.app_label}_{self.opts.model_name}", row.pk))
        if request.method != "POST":
            return self._question(request, row, verb)
        try:
            perform(request, row, int(request.POST["version"]) if request.POST.get("version") else None)
        except (Refusal, ValueError) as refusal:
            self.message_user(request, f"Not {verb.done}: {refusal}", messages.ERROR)
            return page
        self.message_user(request, f"“{row}” is {verb.done}. {verb.means}", messages.SUCCESS)
        return page

    def _question(self, request: HttpRequest, row: Any, verb: Verb) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": f"{verb.word} “{row}”?",
            "opts": self.opts,
            "original": row,
            "verb": verb,
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "lode/confirm.html", context)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        return None


class RetirableAdmin(AuthoringAdmin):
    """Rows that are archived and restored: on their own pages, and several at once in the list."""

    actions = ("archive_selected", "restore_selected")
    actions_detail: Sequence[str] = ("archive", "restore")  # type: ignore[assignment]  # as in the base

    def archive_row(self, request: HttpRequest, row: Any, expected_version: int | None) -> Any:
        """Call the action that archives."""
        raise NotImplementedError

    def restore_row(self, request: HttpRequest, row: Any, expected_version: int | None) -> Any:
        """Call the action that restores."""
        raise NotImplementedError

    def is_written(self, obj: Any) -> bool:
        """An archived row is restored first."""
        return self.is_authored(obj) and obj.archived_at is None

    def has_retire_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether somebody may archive and restore."""
        return self._may(request, "change")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        """The one of the two that a row is in need of."""
        row = self.get_object(request, unquote(str(object_id)))
        if row is None or not self.is_authored(row):
            return []
        wanted = "restore" if row.archived_at else "archive"
        offered = super().get_actions_detail(request, object_id)
        return [one for one in offered if one.action_name.endswith(f"_{wanted}")]

    @button("Archive", permission="retire", icon=ARCHIVE.icon)
    def archive(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.ask(request, object_id, ARCHIVE, self.archive_row)

    @button("Restore", permission="retire", icon=RESTORE.icon)
    def restore(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.ask(request, object_id, RESTORE, self.restore_row)

    @button("Archive selected", permission="retire")
    def archive_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._each(request, queryset, ARCHIVE, self.archive_row)

    @button("Restore selected", permission="retire")
    def restore_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._each(request, queryset, RESTORE, self.restore_row)

    def _each(
        self, request: HttpRequest, rows: QuerySet[Any], verb: Verb, perform: Callable[..., Any]
    ) -> None:
        """All of them or, where one is refused or there are too many, none."""
        chosen = list(rows[: MOST_AT_ONCE + 1])
        if len(chosen) > MOST_AT_ONCE:
            self.message_user(request, f"Choose at most {MOST_AT_ONCE} at once.", messages.ERROR)
            return
        if not all(map(self.is_authored, chosen)):
            raise PermissionDenied
        try:
            with transaction.atomic():
                for row in chosen:
                    perform(request, row, None)
        except Refusal as refusal:
            self.message_user(request, f"None was {verb.done}: {refusal}", messages.ERROR)
            return
        self.message_user(request, f"{len(chosen)} {verb.done}.", messages.SUCCESS)
