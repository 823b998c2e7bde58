"""What the terminal and the system tell the supervisor, taken at times that suit it."""

import contextlib
import select
import signal
import socket
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Self

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal to stop came during a step that may be left at any point."""


class Signals:
    """Counts requests to stop, and wakes from ``wait`` at any signal, a child's death included.

    A handler that raised wherever it struck could lose a child between its launch and the note of it;
    so handlers only count, except inside ``interruptible``.
    """

    def __init__(self) -> None:
        self.requests = 0
        self._interruptible = False
        self._reader, self._writer = socket.socketpair()

    def __enter__(self) -> Self:
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        for number in _STOPPING:
            signal.signal(number, self._stop)
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(-1)
        for number in (*_STOPPING, signal.SIGCHLD):
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)
        self._reader.close()
        self._writer.close()

    @property
    def stop_requested(self) -> bool:
        """Whether anyone has asked to stop."""
        return self.requests > 0

    def wait(self, seconds: float) -> None:
        """Sleep until a signal comes, for at most ``seconds``."""
        select.select([self._reader], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            self._reader.recv(4096)

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """A stretch that a request to stop leaves at once, by raising ``Stopped``."""
        self._interruptible = True
        try:
            self._leave_if_asked()
            yield
        finally:
            self._interruptible = False

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.requests += 1
        self._leave_if_asked()

    def _leave_if_asked(self) -> None:
        if self._interruptible and self.requests:
            self._interruptible = False
            raise Stopped


def _wake(_number: int, _frame: FrameType | None) -> None:
    """Only there so that the wake-up descriptor is written to."""
