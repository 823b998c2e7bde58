"""Entries in the admin. Importing this registers them."""

from apps.entries.admin import entry, evidence

__all__ = ["entry", "evidence"]
