"""Entries have vectors of their document text (rules.md 3)."""

from typing import Any

from django.db.models import CharField, F, QuerySet, Value
from django.db.models.functions import Concat

from apps.embeddings import sources
from apps.entries.models import Entry, EntryVector


class EntryTexts(sources.TextSource):
    """The document text of every row: title, instruction and detail, joined by newlines.

    The shared scopes that may grow large have a vector index each; a learner's own rows are few and
    are scanned, and visuals are looked up by name.
    """

    kind = "entries"
    vectors = EntryVector
    owner_field = "entry"
    copied = ("visibility_scope",)
    indexed = {"tutor": "visibility_scope = 'tutor'", "public": "visibility_scope = 'public'"}

    def texts(self) -> "QuerySet[Any]":
        newline = Value("\n")
        content = Concat("title", newline, "instruction", newline, "detail", output_field=CharField())
        return Entry.objects.rows().annotate(content=content, content_hash=F("text_hash"))


sources.register(EntryTexts())
