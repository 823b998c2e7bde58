"""From nothing to ready, through the time in between, and back to nothing."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from django.conf import settings

from apps.core.embedded import Stack, running
from apps.core.embedded.commands import is_embedded_broker, is_embedded_database
from apps.core.embedded.leases import lease
from apps.core.embedded.locations import fingerprint
from apps.core.embedded.server import Server
from apps.core.supervisor import marked, network, requirements
from apps.core.supervisor.child import Child, Deaths
from apps.core.supervisor.claim import claimed
from apps.core.supervisor.errors import SupervisorError
from apps.core.supervisor.network import Address
from apps.core.supervisor.preparation import prepare
from apps.core.supervisor.programs import programs
from apps.core.supervisor.signals import Signals, Stopped
from apps.core.supervisor.terminal import Terminal
from apps.core.supervisor.welcome import welcome

_LOOK_EVERY = 1.0
_READY_WITHIN = 120.0
# Asked to finish, told to drop what they do (Celery gives its tasks back), killed.
_STOPPING = ((signal.SIGTERM, 10.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))


@dataclass(frozen=True, slots=True)
class Options:
    """What ``manage.py up`` is told."""

    host: str
    port: int
    demo: bool


def run(options: Options, write: Callable[[str], object]) -> None:
    """Run Lode until a signal asks it to stop; ``write`` takes text for the terminal.

    Raises SupervisorError or EmbeddedError, whose message is one sentence, where it cannot (go on to) run.
    """
    var: Path = settings.LODE_VAR
    address = Address(options.host, options.port)
    terminal = Terminal(write)
    with Signals() as signals, claimed(var, address.url), contextlib.suppress(Stopped):
        _end_orphans(var, terminal)
        network.require_free(address)
        with _servers(terminal, signals) as stack:
            with signals.interruptible():
                access = prepare(terminal, demo=options.demo)
            with _children(address, stack, signals, terminal) as children:
                with terminal.step("Web, worker and beat"), signals.interruptible():
                    _await_ready(address, children)
                for line in welcome(address, access, var / "log", _age()):
                    terminal.say(line)
                _watch(children, stack, signals, terminal)


def _age() -> float:
    """Seconds since the person pressed Enter."""
    return time.time() - psutil.Process().create_time()


def _end_orphans(var: Path, terminal: Terminal) -> None:
    """End what a killed supervisor left running: only now that its claim is ours are they orphans."""
    if count := marked.end(fingerprint(var)):
        terminal.say(f"Ended {count} processes that a killed supervisor had left.")


@contextlib.contextmanager
def _servers(terminal: Terminal, signals: Signals) -> Iterator[Stack | None]:
    """The embedded servers that the settings name; what they do not name is only asked whether it serves."""
    database, broker = is_embedded_database(), is_embedded_broker()
    with contextlib.ExitStack() as exits:
        stack = None
        with signals.interruptible():
            if database or broker:
                names = " and ".join(
                    name for name, on in (("PostgreSQL", database), ("Valkey", broker)) if on
                )
                with terminal.step(names):
                    serving = running(settings.LODE_VAR, database=database, broker=broker, say=terminal.say)
                    stack = exits.enter_context(serving)
            requirements.require_database()
            if not broker:
                requirements.require_broker()
        yield stack
        terminal.say("Stopping the servers." if stack else "Stopped.")


@contextlib.contextmanager
def _children(
    address: Address, stack: Stack | None, signals: Signals, terminal: Terminal
) -> Iterator[list[Child]]:
    environment = _environment(address)
    with contextlib.ExitStack() as exits:
        held = exits.enter_context(lease(stack.places.lease_file)) if stack else None
        logs = settings.LODE_VAR / "log"
        logs.mkdir(mode=0o700, exist_ok=True)
        children = [
            Child(program, log=logs / f"{program.name}.log", environment=environment, lease=held)
            for program in programs(address.host, address.port)
        ]
        try:
            for child in children:
                child.launch()
            yield children
        finally:
            terminal.say("Stopping beat, worker and web.")
            _stop(children, signals)


def _environment(address: Address) -> dict[str, str]:
    inherited = {"LODE_ALLOWED_HOSTS": ",".join(address.host_names()), **os.environ}
    return {**inherited, marked.INSTANCE: fingerprint(settings.LODE_VAR), "PYTHONUNBUFFERED": "1"}


def _await_ready(address: Address, children: list[Child]) -> None:
    patience = time.monotonic() + _READY_WITHIN
    while not network.answers(address):
        for child in children:
            if ended := child.how_it_ended():
                raise SupervisorError(f"The {child.name} process {ended}; {child.last_words()}")
        if time.monotonic() > patience:
            raise SupervisorError(f"The web process does not answer; {children[0].last_words()}")
        time.sleep(0.05)


def _watch(children: list[Child], stack: Stack | None, signals: Signals, terminal: Terminal) -> None:
    """Start again what dies, until asked to stop."""
    deaths = {server: Deaths() for server in (stack.servers if stack else ())}
    while not signals.stop_requested:
        for server, counted in deaths.items():
            if not server.lives():
                with signals.interruptible():
                    _restart(server, counted, terminal)
        for child in children:
            if line := child.tend():
                terminal.say(line)
        signals.wait(_LOOK_EVERY)


def _restart(server: Server, deaths: Deaths, terminal: Terminal) -> None:
    try:
        pause = deaths.count(time.monotonic())
    except OverflowError as often:
        raise SupervisorError(f"{server.title} has died {often} (see {server.log_file}).") from None
    terminal.say(f"{server.title} has died; starting it again.")
    time.sleep(pause)
    server.begin()
    server.finish()


def _stop(children: list[Child], signals: Signals) -> None:
    """Stop the programs, beat first so that no new work comes; a second request to stop hurries them."""
    for child in reversed(children):
        child.ask_to_stop(signal.SIGTERM)
    for number, seconds in _STOPPING:
        requests, patience = signals.requests, time.monotonic() + seconds
        while any(child.lives for child in children):
            if time.monotonic() > patience or signals.requests > requests:
                break
            signals.wait(0.1)
        else:
            break
        for child in children:
            child.ask_to_stop(number)
    for child in children:
        marked.end(child.instance, child.name)
