"""Forms whose saving is one action: what the action refuses stands at the field that is to blame."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.urls import reverse_lazy
from django.utils.html import format_html
from django.utils.text import capfirst
from unfold.widgets import (
    UnfoldAdminAutocompleteModelChoiceFieldWidget,
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminTextareaWidget,
)

from apps.core.admin import html
from apps.core.errors import Problem, Refusal, Stale

if TYPE_CHECKING:
    _ModelForm = forms.ModelForm[Any]
    _ModelChoiceField = forms.ModelChoiceField[Any]
else:
    _ModelForm, _ModelChoiceField = forms.ModelForm, forms.ModelChoiceField


class PlainTextField(forms.CharField):
    """Text kept as it is, but for line ends: a browser sends them all as CRLF and drops one in front.

    A text that nobody touched must come back as it was, or every edit would change its hash.
    """

    widget = UnfoldAdminTextareaWidget

    def __init__(self, *, rows: int = 4, **given: Any) -> None:
        super().__init__(strip=False, **given)
        self.widget.attrs["rows"] = rows

    def to_python(self, value: Any) -> Any:
        return _as_sent(super().to_python(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(initial) != self.to_python(data))


class LinesField(forms.CharField):
    """A list of names, one a line."""

    widget = UnfoldAdminTextareaWidget({"rows": 4})

    def to_python(self, value: Any) -> Any:
        lines = value if isinstance(value, list) else _as_sent(str(value or "")).split("\n")
        return [line.strip() for line in lines if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(initial) != self.to_python(data))


class ConfidenceField(forms.DecimalField):
    """A share from 0 to 1, shown without idle zeros."""

    widget = UnfoldAdminDecimalFieldWidget

    def __init__(self, *, decimal_places: int = 6, **given: Any) -> None:
        super().__init__(
            min_value=Decimal(0), max_value=Decimal(1), decimal_places=decimal_places, required=False, **given
        )

    def prepare_value(self, value: Any) -> Any:
        return html.number(value) if isinstance(value, Decimal) else value

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {**super().widget_attrs(widget), "step": "any"}


class Options(UnfoldAdminAutocompleteModelChoiceFieldWidget):
    """A choice that is looked up while it is typed; only what is chosen is read from the database."""

    choices: Any

    def optgroups(self, name: str, value: Iterable[Any], attrs: Mapping[str, Any] | None = None) -> Any:
        chosen = [str(one) for one in value if one]
        options = [
            self.create_option(name, str(row.pk), self.choices.field.label_from_instance(row), True, index)
            for index, row in enumerate(self._rows(chosen))
        ]
        return [(None, options, 0)]

    def _rows(self, chosen: list[str]) -> list[Any]:
        try:
            return list(self.choices.queryset.filter(pk__in=chosen)) if chosen else []
        except (ValueError, ValidationError):
            return []  # what was sent is no id: the field says so


class OptionField(_ModelChoiceField):
    """One row, looked up at the options of its model's admin (``ReadOnlyAdmin.option_text``)."""

    widget = Options

    def __init__(self, queryset: Any, *, options: str, text: Any = str, **given: Any) -> None:
        self._address, self._text = f"admin:{options}_options", text
        super().__init__(queryset, **given)

    def label_from_instance(self, obj: Any) -> str:
        return str(self._text(obj))

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {**super().widget_attrs(widget), "data-ajax--url": reverse_lazy(self._address)}


class AuthoringForm(_ModelForm):
    """What an author typed. Nothing is checked against the model: the action does that, under its lock.

    A page carries beside each field the value that it showed. So a change holds what the author changed
    and nothing else, and what somebody else changed meanwhile is seen. ``moved_by_rules`` are fields
    that grades move, too: where the author left them alone, their moving is no conflict.
    """

    moved_by_rules: ClassVar[tuple[str, ...]] = ()
    refusal: ClassVar[Refusal | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = kwargs.get("instance") is not None

    def changes(self) -> dict[str, Any]:
        """What the author changed, by field."""
        return {name: self.cleaned_data[name] for name in self.changed_data}

    def conflicts(self) -> list[str]:
        """The fields in which the author decided on a value that is no longer the stored one."""
        return [
            name for name in self._moved() if name not in self.moved_by_rules or name in self.changed_data
        ]

    def _moved(self) -> list[str]:
        shown = {name: self._seen(name) for name, field in self.fields.items() if field.show_hidden_initial}
        return [name for name, seen in shown.items() if seen is not None and seen != self._stored(name)]

    def _seen(self, name: str) -> str | None:
        """The value that the page showed; None where whoever sent this knows of no page."""
        sent = self.data.get(self[name].html_initial_name)
        return None if sent is None else _as_sent(str(sent))

    def _stored(self, name: str) -> str:
        """The value that a page would show now."""
        field = self.fields[name]
        value = field.prepare_value(self.get_initial_for_field(field, name))
        return _as_sent(str(field.hidden_widget().format_value(value) or ""))

    def _post_clean(self) -> None:
        if self.refusal is None:
            return
        if isinstance(self.refusal, Stale):
            self._show_both(self.refusal)
        for problem in [] if isinstance(self.refusal, Stale) else self.refusal.errors:
            self.add_error(self._field_of(problem), _with_link(problem, self.refusal, self._meta.model))

    def _field_of(self, problem: Problem) -> str | None:
        name = self.field_of(problem.pointer.strip("/").partition("/")[0])
        return name if name in self.fields else None

    def field_of(self, name: str) -> str:
        """The field that stands for ``name`` of the action."""
        return name

    def _show_both(self, refusal: Refusal) -> None:
        """Keep what was typed, show what is stored where they differ, and let the next saving decide on that."""
        self.add_error(None, refusal.detail)
        for name in self._moved():
            if self.fields[name].has_changed(
                self.get_initial_for_field(self.fields[name], name), self[name].data
            ):
                self.add_error(name, f"Stored now: {self._stored_words(name) or '(empty)'}")
        data = cast("QueryDict", self.data).copy()
        for name in self.fields:
            data[self[name].html_initial_name] = self._stored(name)
        self.data = data

    def _stored_words(self, name: str) -> str:
        field, value = self.fields[name], self.get_initial_for_field(self.fields[name], name)
        return (
            field.label_from_instance(value)
            if isinstance(field, OptionField) and value
            else self._stored(name)
        )


def _as_sent(text: str) -> str:
    """``text`` with the line ends that every browser agrees on."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\n")


def _with_link(problem: Problem, refusal: Refusal, model: Any) -> Any:
    """The problem in words, with a link to the row that is in the way."""
    words, pk = capfirst(problem.message), refusal.extra.get("id")
    if pk is None:
        return words
    address = html.page_of(model._meta.label_lower.replace(".", "_"), pk)
    return format_html("{} {}", words, html.link(address, "Open it"))
