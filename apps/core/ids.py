"""Ids of rows that other systems see."""

from uuid import UUID

from uuid_utils import compat


def uuid7() -> UUID:
    """A UUID of version 7: ordered by time, so that neighbours in time are neighbours in the index."""
    made: UUID = compat.uuid7()
    return made
