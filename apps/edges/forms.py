"""What an author types of an edge."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget

from apps.core.admin.forms import AuthoringForm, ConfidenceField, OptionField, PlainTextField
from apps.edges.models import Edge
from apps.entries.forms import entry_words
from apps.entries.models import Entry
from apps.rules.scopes import SHARED_SCOPES

TYPE_WORDS = {
    "prerequisite": "needs (prerequisite)",
    "fallback": "falls back to (fallback)",
    "leads_to": "leads to",
    "related": "is related to",
    "supersedes": "supersedes",
}
"""Every type, by what it says; in brackets the name of one whose verb does not tell it."""


class EdgeForm(AuthoringForm):
    """An edge between entries of the shared scopes. Its ends and type are its identity: a new one states them."""

    moved_by_rules = ("confidence",)

    source = OptionField(
        Entry.objects.rows().filter(visibility_scope__in=SHARED_SCOPES).select_related("topic"),
        options="entries_entry",
        text=entry_words,
        label="From",
        help_text="“From” needs “to”: what “to” says must be understood first.",
    )
    edge_type = forms.ChoiceField(
        choices=list(TYPE_WORDS.items()), widget=UnfoldAdminSelectWidget, label="Says"
    )
    target = OptionField(
        Entry.objects.rows().filter(visibility_scope__in=SHARED_SCOPES).select_related("topic"),
        options="entries_entry",
        text=entry_words,
        label="To",
    )
    condition = PlainTextField(
        rows=2,
        required=False,
        help_text="When it holds: “the student mixes up key and nonce”. Shown in the prompt.",
    )
    rationale = PlainTextField(rows=2, required=False, help_text="Why it is so; for whoever reads this next.")
    confidence = ConfidenceField(help_text="From 0 to 1. Left empty, the rules give it.")

    class Meta:
        model = Edge
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if kwargs.get("instance") is None:
            return
        self.initial.update(
            {name: getattr(self.instance, name) for name in ("condition", "rationale", "confidence")}
        )
        for name in ("source", "edge_type", "target"):
            del self.fields[name]
        self.fields["confidence"].required = True
        self.fields["confidence"].help_text = "From 0 to 1. Its ledger keeps what it was."
