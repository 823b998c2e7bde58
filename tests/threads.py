"""Many callers at once: how tests show a race, and show it fixed."""

import threading
from collections.abc import Callable
from typing import TypeVar

from django.db import connection

Result = TypeVar("Result")


def in_threads(count: int, work: Callable[[], Result]) -> list[Result | BaseException]:
    """What ``work`` gave in each of ``count`` threads that began together; what it raised is a result too.

    Each thread has its own connection, closed at its end. For tests with ``transaction=True``.
    """
    barrier = threading.Barrier(count)
    results: list[Result | BaseException] = []

    def run() -> None:
        barrier.wait(timeout=10)
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - handed to the test as a result
            results.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
