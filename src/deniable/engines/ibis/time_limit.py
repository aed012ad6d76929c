"""Ends a statement that takes too long: DuckDB is interrupted, others are left behind."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")


@contextlib.contextmanager
def interrupt_after(seconds: float, connection: Any) -> Iterator[None]:
    """Interrupts what DuckDB does when the time is up; it then raises an error."""
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def call_within(seconds: float, function: Callable[[], Result]) -> Result:
    """What a function returns or raises, or TimeoutError. Polars cannot be interrupted, so its
    thread may go on after that; nobody waits for it."""
    results: list[Result] = []
    problems: list[BaseException] = []

    def call() -> None:
        try:
            results.append(function())
        except BaseException as problem:  # Polars raises more than Exceptions
            problems.append(problem)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError
    if problems:
        raise problems[0]
    return results[0]
