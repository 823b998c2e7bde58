"""Converting other shapes of a curriculum into a bundle that imports whole (curriculum.md)."""
