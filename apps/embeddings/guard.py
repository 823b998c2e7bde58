"""No embedding inside an open transaction: a model or a network is waited for with no lock held."""

from django.db import connections

from apps.embeddings.errors import EmbeddingInTransactionError


def refuse_open_transaction() -> None:
    """Raise EmbeddingInTransactionError where this thread has a transaction open on any database."""
    for connection in connections.all(initialized_only=True):
        # Django marks the blocks that its own TestCase opens, and leaves them out of the same check for
        # `atomic(durable=True)`; so does this, and the guard is on in every test. That public check
        # would cost a BEGIN and a COMMIT for each embedding.
        if any(not getattr(block, "_from_testcase", False) for block in connection.atomic_blocks):
            message = "a vector was asked for inside an open transaction: embed before it, or on its commit"
            raise EmbeddingInTransactionError(message)
