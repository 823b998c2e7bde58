"""The supervisor behind ``manage.py up``: everything that makes up Lode, started, watched and stopped.

``run`` holds the course of it; ``child`` the programs, ``marked`` those that a killed supervisor left,
``preparation`` what must be in the database first, ``requirements`` what servers of others must bring.
"""

from apps.core.supervisor.errors import SupervisorError
from apps.core.supervisor.run import Options, run

__all__ = ["Options", "SupervisorError", "run"]
