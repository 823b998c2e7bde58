"""What the tests of retrieval share."""

import pytest

from apps.embeddings.models import EmbeddingSpace
from tests.api import Caller
from tests.factories import make_space


@pytest.fixture
def space(db: None) -> EmbeddingSpace:
    """The serving space: the hash provider's, which needs no model."""
    return make_space()


@pytest.fixture
def call(db: None) -> Caller:
    """A client with a key that may do everything and sees everything."""
    return Caller()
