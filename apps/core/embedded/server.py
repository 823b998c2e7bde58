"""One embedded server: launched under a lock that it inherits, mended, waited for, stopped.

Whoever launches a server holds its lock file exclusively and passes it on. From then on the kernel
says whether any process of it lives. Where the lock is free nothing does, and all that a former
life left behind (pid file, sockets) is rubbish, whatever number stands in it.
"""

import os
import re
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import psutil

from apps.core.embedded import locks, processes
from apps.core.embedded.errors import EmbeddedError
from apps.core.embedded.folders import Places, require_room

_POLL = 0.02
_SAY_AFTER = 10.0
_HEADLESS_AFTER = 2.0
_UNSEEN_AFTER = 60.0
_STOP_WITHIN = 60.0
_END_WITHIN = 10.0
_LONGEST_LOG = 10 << 20


class Server(ABC):
    """What PostgreSQL and Valkey have in common.

    ``title`` names it to people, ``slug`` its files; ``stop_signal`` asks it to finish in good order;
    ``alarm`` matches a line of its log that says why it died.
    """

    title: str
    slug: str
    stop_signal: signal.Signals
    alarm: re.Pattern[str]

    def __init__(self, places: Places, say: Callable[[str], None]) -> None:
        self.places = places
        self.say = say
        self.lock_file = places.home / f"{self.slug}.lock"
        self.log_file = places.logs / f"{self.slug}.log"
        self._launched: subprocess.Popen[bytes] | None = None
        self._is_fresh = False
        self._log_begins = 0

    @abstractmethod
    def command(self) -> list[str]:
        """The command that runs it in the foreground."""

    @abstractmethod
    def install(self, descriptor: int) -> None:
        """Make its data and configuration where they are missing; a process that does so holds the lock too."""

    @abstractmethod
    def mend(self) -> None:
        """Remove what a former life left; called with the lock held and no process of it alive."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it takes requests by now."""

    @abstractmethod
    def is_main(self, command_line: str) -> bool:
        """Whether a process of its account with this command line is its main one."""

    @abstractmethod
    def is_child(self, command_line: str) -> bool:
        """Whether a process of its account with this command line is one that the main one made."""

    def begin(self) -> None:
        """Launch it unless it lives; does not wait until it answers."""
        self._is_fresh = False
        with locks.exclusive(self.lock_file) as descriptor:
            if descriptor is None or self.main_process() is not None:
                return
            if self._launched is not None:
                self._launched.wait()  # the free lock says that it is dead
            require_room(self.places.home)
            self.mend()
            self.install(descriptor)
            self._launched = self._launch(descriptor)
            self._is_fresh = True

    def finish(self) -> None:
        """Wait until it answers, for as long as it lives: a long recovery is no failure.

        Raises EmbeddedError with the end of its log where it dies.
        """
        waiting = _Patience(self)
        while not self.answers():
            if not self.lives():
                if self._is_fresh:
                    raise EmbeddedError(f"{self.title} does not start: {self._last_words()}")
                self.begin()  # what we joined was about to die
            waiting.think()
            time.sleep(_POLL)

    def lives(self) -> bool:
        """Whether any process of it is alive, ours or taken over."""
        if self._launched is not None:
            self._launched.poll()
        return locks.is_held(self.lock_file) or self.main_process() is not None

    def main_process(self) -> psutil.Process | None:
        """The process to signal, or None where it is not there or not to be seen from here."""
        found = processes.owned_by(self.places.account.uid, self.is_main)
        return found[0] if found else None

    def stop(self, *, patience: float = _STOP_WITHIN) -> None:
        """Ask it to finish, and end what has not done so in ``patience`` seconds; nothing of it lives then.

        One whose processes cannot be seen from here is another's, and left alone.
        """
        main = self.main_process()
        if main is None:
            self.end_headless()
            self._gone_within(_HEADLESS_AFTER)
            return
        processes.send([main], self.stop_signal)
        if not self._gone_within(patience):
            self.say(f"{self.title} has not stopped in {patience:g} s and is ended.")
            self.end()

    def end(self) -> None:
        """Kill whatever lives of it. Its next start recovers."""
        main = self.main_process()
        processes.send([*([main] if main else []), *self._children()], signal.SIGKILL)
        if not self._gone_within(_END_WITHIN):
            raise EmbeddedError(f"{self.title} cannot be stopped: something still holds {self.lock_file}.")

    def end_headless(self) -> None:
        """Kill the children of a main process that was killed; they would hold its data for a while."""
        processes.send(self._children(), signal.SIGKILL)

    def leave(self) -> None:
        """Let it run on without us: its exit status is no longer this process's business."""
        if self._launched is not None and self._launched.returncode is None:
            self._launched.returncode = 0
        self._launched = None

    def _launch(self, descriptor: int) -> subprocess.Popen[bytes]:
        log = open_log(self.log_file)
        self._log_begins = os.fstat(log).st_size
        try:
            return self.places.account.popen(
                self.command(), log=log, pass_fds=(descriptor,), environment=surroundings()
            )
        except OSError as error:
            raise EmbeddedError(f"{self.title} cannot be launched: {error.strerror}.") from error
        finally:
            os.close(log)

    def _children(self) -> list[psutil.Process]:
        return processes.owned_by(self.places.account.uid, self.is_child)

    def _gone_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.lives():
            if time.monotonic() > end:
                return False
            time.sleep(_POLL)
        return True

    def _last_words(self) -> str:
        lines = self.log_file.read_bytes()[self._log_begins :].decode(errors="replace").splitlines()
        telling = [line for line in lines if self.alarm.search(line)]
        last = (telling or lines or ["it said nothing"])[-1]
        return f"{last.strip()} (see {self.log_file})"


class _Patience:
    """What to think while a server does not answer yet."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.began = time.monotonic()
        self.next_note = _SAY_AFTER
        self.next_look = _HEADLESS_AFTER

    def think(self) -> None:
        waited = time.monotonic() - self.began
        if waited > self.next_look:
            self.next_look += _HEADLESS_AFTER
            self._look_for_its_head(waited)
        if waited > self.next_note:
            self.next_note *= 2
            self.server.say(
                f"{self.server.title} lives but does not answer after {waited:.0f} s: "
                f"it may be recovering (see {self.server.log_file})."
            )

    def _look_for_its_head(self, waited: float) -> None:
        if self.server.main_process() is not None:
            return
        self.server.end_headless()
        if waited > _UNSEEN_AFTER:
            raise EmbeddedError(
                f"{self.server.title} is run by a process that cannot be seen from here, perhaps in another "
                f"container: it holds {self.server.lock_file}."
            )


def surroundings() -> dict[str, str]:
    """The environment of every server: nothing of the user's (PGPORT and its like would be obeyed)."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def open_log(file: Path) -> int:
    """A descriptor that appends to ``file`` (mode 0600); one that has grown long is set aside first."""
    if file.exists() and file.stat().st_size > _LONGEST_LOG:
        file.replace(file.with_suffix(".log.1"))
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
