"""What every REST view stands on: problems, strict bodies, access, pages, ETags and the schema (api.md)."""
