"""The audit in the admin, and the admin of what is audited. Importing this registers the audit's own pages."""

from apps.audit.admin import events

__all__ = ["events"]
