"""The exchange format (curriculum.md): what its records are, and how JSON and zipped CSV are read and written."""
