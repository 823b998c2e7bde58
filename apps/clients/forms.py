"""What an operator types of a new API key."""

from django import forms
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from apps.clients.models import ApiKey, Scope, Source
from apps.core.admin.forms import AuthoringForm, LinesField

_SCOPES = {
    Scope.RETRIEVE: "retrieve: ask what is worth knowing now",
    Scope.WRITE: "write: sessions, turns and memories",
    Scope.ERASE: "erase: forget a learner or a memory",
    Scope.AUTHOR: "author: the curriculum, its import and export",
}


class KeyForm(AuthoringForm):
    """A new key. A key is never changed afterwards: revoke it, and make another."""

    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, _SCOPES[scope]) for scope in Scope],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        label="What it may do",
    )
    sources = forms.MultipleChoiceField(
        choices=[(source.value, source.value) for source in Source],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        required=False,
        label="Sources it may declare",
        help_text="Where memories come from. None: it declares nothing, and counts as assistant.",
    )
    topics = LinesField(required=False, help_text="Slugs, one a line. None: every topic.")

    class Meta:
        model = ApiKey
        fields = ("name", "learner_prefix", "rate_per_minute", "expires_at")
        help_texts = {
            "name": "What it is for, as lists and the audit name it.",
            "learner_prefix": "Only learners whose id begins so. Empty: every learner.",
            "rate_per_minute": "Calls it may make in a minute.",
            "expires_at": "Empty: it works until it is revoked.",
        }
