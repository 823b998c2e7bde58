"""What an author types of an entry."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from apps.catalog.forms import concept_words
from apps.catalog.models import Concept, Topic
from apps.core.admin.forms import AuthoringForm, ConfidenceField, OptionField, PlainTextField
from apps.entries.models import Entry, Maturity
from apps.rules.scopes import PUBLIC, SHARED_SCOPES, TUTOR, VISUAL
from apps.rules.slugs import UNANCHORED

_GROWING = (Maturity.CANDIDATE, Maturity.PATTERN, Maturity.PROVEN)
_SCOPES = {
    PUBLIC: "public: a fact of a topic",
    TUTOR: "tutor: a teaching move, for every topic",
    VISUAL: "visual: a drawing of a concept",
}


def entry_words(entry: Entry) -> str:
    """How a field of another page names an entry: titles alone may repeat."""
    where = entry.topic.title if entry.topic and entry.visibility_scope == PUBLIC else entry.visibility_scope
    return f"{entry.title} · {where}"


class EntryForm(AuthoringForm):
    """An entry in a shared scope. What is kept of a learner comes in by the API alone.

    ``concept`` names a concept in ``public`` and ``visual``; in ``tutor`` a move has a ``name`` of its own.
    """

    moved_by_rules = ("confidence",)

    scope = forms.ChoiceField(
        choices=[(scope, _SCOPES[scope]) for scope in SHARED_SCOPES],
        widget=UnfoldAdminSelectWidget,
        help_text="Who reads it. It stays so for ever.",
    )
    topic = OptionField(
        Topic.objects.all(),
        options="catalog_topic",
        required=False,
        help_text="A fact of scope public has one; elsewhere it only says where the entry comes from.",
    )
    concept = OptionField(
        Concept.objects.all(),
        options="catalog_concept",
        text=concept_words,
        required=False,
        help_text="What it is about. Left empty, the entry is found by its words alone.",
    )
    name = forms.CharField(
        max_length=100,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="A slug of its own, such as ask-for-an-example. Left empty, it has none.",
    )
    instruction = PlainTextField(help_text="What a tutor is told, in a sentence or two.")
    detail = PlainTextField(required=False, help_text="What stands behind it; it helps to find the entry.")
    visual = PlainTextField(
        rows=8,
        required=False,
        label="Drawing",
        help_text="One SVG of shapes and text; it may fetch and run nothing.",
    )
    maturity = forms.ChoiceField(choices=[(word, word) for word in _GROWING], widget=UnfoldAdminSelectWidget)
    confidence = ConfidenceField(help_text="From 0 to 1. Left empty, the rules give it.")
    importance = ConfidenceField(
        decimal_places=3, help_text="From 0 to 1, for the search of memories. Left empty, the rules give it."
    )

    class Meta:
        model = Entry
        fields = ("title",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if kwargs.get("instance") is None:
            del self.fields["maturity"]
        else:
            self._show(self.instance)

    def _show(self, entry: Entry) -> None:
        """Fill the fields that this entry has, and take out those that are no part of it."""
        named = entry.concept_slug != UNANCHORED
        own_name = entry.visibility_scope == TUTOR
        concept = Concept.objects.filter(slug=entry.concept_slug).first() if named and not own_name else None
        self.initial.update(concept=concept, name=entry.concept_slug if named else "")
        shown = ("instruction", "detail", "visual", "maturity", "confidence", "importance")
        self.initial.update({name: getattr(entry, name) for name in shown})
        absent = {"scope", "topic", "concept" if own_name else "name"}
        absent |= set() if entry.visibility_scope == VISUAL else {"visual"}
        for name in absent & self.fields.keys():
            del self.fields[name]
        self.fields["confidence"].required = True
        self.fields["confidence"].help_text = "From 0 to 1. Its ledger keeps what it was."

    def field_of(self, name: str) -> str:
        """A move's concept is its name."""
        return "name" if name == "concept" and self._has_own_name() else name

    def clean(self) -> dict[str, Any]:
        """No drawing that was typed before another scope was chosen."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if "scope" in self.fields and given.get("scope") != VISUAL:
            given["visual"] = ""
        return given

    def anchor(self) -> str | None:
        """What names the entry's concept, for the action: a slug, or None for none."""
        if self._has_own_name():
            return self.cleaned_data["name"] or None
        concept: Concept | None = self.cleaned_data["concept"]
        return concept.slug if concept else None

    def _has_own_name(self) -> bool:
        return "concept" not in self.fields or self.cleaned_data.get("scope") == TUTOR
