"""What an author types of topics and concepts."""

from typing import Any

from apps.catalog.models import Concept, Topic
from apps.core.admin.forms import AuthoringForm, LinesField, PlainTextField
from apps.rules.slugs import slugify


class NamedForm(AuthoringForm):
    """Something with a slug, which a new one may leave to its title."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            self.fields["slug"].required = False
            self.fields[
                "slug"
            ].help_text = "How addresses and clients name it. Left empty, it is made from the title."
        else:
            self.fields["slug"].help_text = "How addresses and clients name it: they must learn a new one."

    def clean_slug(self) -> str:
        """The slug, or that of the title."""
        return self.cleaned_data["slug"] or slugify(self.cleaned_data.get("title", "")) or ""


class TopicForm(NamedForm):
    """A topic."""

    description = PlainTextField(required=False)

    class Meta:
        model = Topic
        fields = ("title", "slug", "description")


class ConceptForm(NamedForm):
    """A concept with its aliases, one a line."""

    definition = PlainTextField(required=False)
    aliases = LinesField(
        required=False,
        help_text="Other names, one a line. No two concepts share a name, whatever its case or signs.",
    )

    class Meta:
        model = Concept
        fields = ("title", "slug", "definition")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is not None:
            aliases = self.instance.names.filter(is_canonical=False).order_by("slug")
            self.initial["aliases"] = list(aliases.values_list("name", flat=True))


def concept_words(concept: Concept) -> str:
    """How a field of another page names a concept."""
    return f"{concept.title} ({concept.slug})"
