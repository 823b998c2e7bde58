"""Exporting: what is stored, as a bundle that imports whole (curriculum.md)."""
