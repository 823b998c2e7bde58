"""What every test may rely on."""

from collections.abc import Iterator

import pytest

from apps.dials import queries as dials


@pytest.fixture(autouse=True)
def _dials_are_read_anew() -> Iterator[None]:
    """A rolled-back change of a dial must not live on in the process's memory."""
    dials._Memory.snapshot = None
    yield
    dials._Memory.snapshot = None
