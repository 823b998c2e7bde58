class SupervisorError(Exception):
    """Lode cannot run; the message is one sentence for the person at the terminal."""
