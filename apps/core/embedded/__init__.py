"""Embedded PostgreSQL and Valkey: no installation, no network port, no other user.

``running`` starts them for as long as anyone uses them; ``locations`` says where they are reached.
Processes that share a ``var`` folder share the servers, whoever started them.
"""

from apps.core.embedded.errors import EmbeddedError
from apps.core.embedded.stack import Stack, running

__all__ = ["EmbeddedError", "Stack", "running"]
