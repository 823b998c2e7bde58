"""The embedded Valkey, which speaks Redis: Celery's broker and the cache, on one unix socket."""

import re
import signal
import socket

from apps.core.embedded import binaries, folders
from apps.core.embedded.server import Server


class Valkey(Server):
    """The server over ``home/valkey``, which appends every write to a file before it answers."""

    title = "Valkey"
    slug = "valkey"
    stop_signal = signal.SIGTERM
    alarm = re.compile("# (?!WARNING)|Can't|[Ee]rror")

    @property
    def socket(self) -> str:
        """The path of its socket."""
        return str(self.places.sockets / "valkey.sock")

    def command(self) -> list[str]:
        data = str(self.places.home / "valkey")
        listen = ["--port", "0", "--unixsocket", self.socket, "--unixsocketperm", "700"]
        keep = ["--dir", data, "--appendonly", "yes", "--save", ""]
        # Under pressure it drops cached values, which have an expiry, and never the queues, which have none.
        memory = ["--maxmemory", "256mb", "--maxmemory-policy", "volatile-lru"]
        # Its command line must stay as it is: that is how it is found again.
        return [str(binaries.valkey(self.places)), *listen, *keep, *memory, "--set-proc-title", "no"]

    def install(self, descriptor: int) -> None:
        folders.make_private(self.places.home / "valkey", self.places.account)

    def mend(self) -> None:
        (self.places.sockets / "valkey.sock").unlink(missing_ok=True)

    def answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(2)
                client.connect(self.socket)
                client.sendall(b"PING\r\n")
                return client.recv(64).startswith(b"+PONG")  # "-LOADING" while it reads its file
        except OSError:
            return False

    def is_main(self, command_line: str) -> bool:
        return f"valkey-server --port 0 --unixsocket {self.socket} " in command_line

    def is_child(self, command_line: str) -> bool:
        return self.is_main(command_line)  # a fork that rewrites the file shows its parent's command line
