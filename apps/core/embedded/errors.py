class EmbeddedError(Exception):
    """An embedded server cannot run; the message is one sentence for the person at the terminal."""
