"""The programs that make up Lode beside its servers."""

import sys

from apps.core.supervisor.child import Program

_THREADS = 8


def programs(host: str, port: int) -> list[Program]:
    """Web, worker and beat, in the order of their start."""
    return [
        Program("web", [*_python("gunicorn"), *_web(host, port)]),
        Program("worker", [*_celery("worker"), "--concurrency", "2", "--without-gossip", "--without-mingle"]),
        Program("beat", [*_celery("beat"), "--scheduler", "django_celery_beat.schedulers:DatabaseScheduler"]),
    ]


def _python(module: str) -> list[str]:
    return [sys.executable, "-m", module]


def _celery(kind: str) -> list[str]:
    options = {"worker": ["--hostname", "lode@%h"], "beat": ["--pidfile="]}
    return [*_python("celery"), "--app", "config", kind, "--loglevel", "INFO", *options[kind]]


def _web(host: str, port: int) -> list[str]:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    # Preloaded, the two processes share their memory; no connection is opened before they part.
    sharing = [
        "--preload",
        "--workers",
        "2",
        "--worker-class",
        "apps.core.worker.ProblemWorker",
        "--threads",
        str(_THREADS),
    ]
    return ["config.wsgi:application", "--bind", address, *sharing, "--timeout", "60", "--no-control-socket"]
