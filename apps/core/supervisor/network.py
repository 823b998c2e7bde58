"""The address that the web process listens on."""

import contextlib
import http.client
import ipaddress
import socket
from dataclasses import dataclass

import psutil

from apps.core.supervisor.errors import SupervisorError


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen (``host`` and ``port``), and how a person gets there."""

    host: str
    port: int

    @property
    def reachable_host(self) -> str:
        """A host by which this machine reaches it: of those that mean every address, the loopback one."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - compared, not bound

    @property
    def url(self) -> str:
        """The address to type into a browser."""
        host = f"[{self.reachable_host}]" if ":" in self.reachable_host else self.reachable_host
        return f"http://{host}:{self.port}"

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach it."""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(self.host).is_loopback
        return self.host == "localhost"

    def host_names(self) -> list[str]:
        """The names under which requests may ask for it."""
        names = {"localhost", "127.0.0.1", "[::1]"}
        if not self.is_private:
            names |= {self.host, socket.gethostname(), *_own_addresses()}
        return sorted(names)


def require_free(address: Address) -> None:
    """Raise SupervisorError where the web process could not listen at ``address``."""
    try:
        kind, _, _, _, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
            probe.listen()
    except (OSError, OverflowError) as error:
        raise SupervisorError(_why_not(address, error)) from error


def answers(address: Address) -> bool:
    """Whether the web process takes requests by now."""
    connection = http.client.HTTPConnection(address.reachable_host, address.port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _why_not(address: Address, error: Exception) -> str:
    if isinstance(error, PermissionError):
        return f"Port {address.port} needs rights that this user lacks: choose one from 1024 on with --port."
    if isinstance(error, socket.gaierror) or "assign" in str(error):
        return f"The host {address.host} is no address of this machine: choose another with --host."
    if "in use" in str(error):
        return (
            f"Port {address.port} on {address.host} is taken by another program: choose another with --port."
        )
    return f"Lode cannot listen on {address.host} port {address.port}: {error}."


def _own_addresses() -> set[str]:
    found = (entry for entries in psutil.net_if_addrs().values() for entry in entries)
    v4 = {entry.address for entry in found if entry.family == socket.AF_INET}
    return v4 | {socket.getfqdn()}
