"""One program under the supervisor: launched, started again when it dies, and stopped."""

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from apps.core.embedded.server import open_log
from apps.core.supervisor import marked
from apps.core.supervisor.errors import SupervisorError

_DEATHS_ALLOWED = 5
_WITHIN = 60.0
_LONGEST_PAUSE = 8.0


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, under which name."""

    name: str
    argv: list[str]


class Deaths:
    """How often something has died lately: how long to wait before the next try, and when to give up."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_DEATHS_ALLOWED)

    def count(self, now: float) -> float:
        """Note a death; the seconds to wait before the next try. Raises OverflowError where it is hopeless."""
        self._times.append(now)
        recent = [at for at in self._times if now - at <= _WITHIN]
        if len(recent) >= _DEATHS_ALLOWED:
            raise OverflowError(f"{_DEATHS_ALLOWED} times within {_WITHIN:.0f} s")
        return float(min(_LONGEST_PAUSE, 0.5 * 2 ** (len(recent) - 1)))


class Child:
    """``program`` as a process of its own session, writing to ``log``."""

    def __init__(
        self, program: Program, *, log: Path, environment: Mapping[str, str], lease: int | None
    ) -> None:
        self.name = program.name
        self.log = log
        self.instance = environment[marked.INSTANCE]
        self._program = program
        self._environment = {**environment, marked.PROGRAM: program.name}
        self._lease = lease
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths = Deaths()
        self._due: float | None = None

    def launch(self) -> None:
        """Start it, in a session of its own so that the terminal's Ctrl-C reaches the supervisor alone."""
        log = open_log(self.log)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own commands, never a shell's
                self._program.argv,
                cwd=Path(__file__).resolve().parents[3],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=() if self._lease is None else (self._lease,),
                start_new_session=True,
            )
        finally:
            os.close(log)

    def how_it_ended(self) -> str | None:
        """How the process ended, or None while it lives."""
        status = self._process.poll() if self._process is not None else None
        if status is None:
            return None
        return (
            f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        )

    def tend(self) -> str | None:
        """Start it again when that is due; a line to say where it has just died.

        Raises SupervisorError where it dies again and again.
        """
        now = time.monotonic()
        if self._due is not None:
            if now >= self._due:
                self._due = None
                self.launch()
            return None
        ended = self.how_it_ended()
        return None if ended is None else self._note_death(ended, now)

    def _note_death(self, ended: str, now: float) -> str:
        marked.end(self.instance, self.name)  # what it left behind would hold its port or its tasks
        try:
            pause = self._deaths.count(now)
        except OverflowError as often:
            raise SupervisorError(f"The {self.name} process has died {often}; {self.last_words()}") from None
        self._due = now + pause
        return f"The {self.name} process {ended}; starting it again in {pause:g} s."

    def ask_to_stop(self, number: signal.Signals) -> None:
        """Signal it, if it lives."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    @property
    def lives(self) -> bool:
        """Whether its main process is alive."""
        return self._process is not None and self._process.poll() is None

    def last_words(self) -> str:
        """The last line of its log, with the place of the rest."""
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return f"its last words: {lines[-1].strip() if lines else 'none'} (see {self.log})"
