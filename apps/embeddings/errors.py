"""What can go wrong between a text and its vector.

Every message names the provider and, where one text is to blame, its position in the call; the caller
knows which entry stands there. Nothing here imports a provider, so any app may catch these.
"""


class EmbeddingError(Exception):
    """A text could not be turned into a vector.

    ``position`` counts from 0 within the texts of the call; None where no single text is to blame.
    """

    def __init__(self, message: str, *, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class ProviderNotConfiguredError(EmbeddingError):
    """The settings name no such provider or model, or lack what it needs. Waiting does not mend it."""


class ProviderUnavailableError(EmbeddingError):
    """The provider did not answer, or said that it is overloaded or broken. Worth trying again later."""


class ProviderRefusedError(EmbeddingError):
    """The provider understood the request and refused it: a wrong key, an unknown model, a bad request."""


class InvalidAnswerError(EmbeddingError):
    """The provider answered with what cannot be the vectors of these texts; none of it is kept."""


class TextNotEmbeddableError(EmbeddingError):
    """A text is empty, is no valid Unicode, or is longer than the provider takes."""


class EmbeddingInTransactionError(EmbeddingError):
    """A vector was asked for inside an open transaction, which would hold its locks for a network call."""
