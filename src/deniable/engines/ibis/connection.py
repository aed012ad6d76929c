"""What a back end of Ibis must do: describe tables, write a statement, run it in batches.

Ibis connects and finds tables. It does not write the statements: each back end has a class of
its own, which runs our statement as it is, or as a `StatementWriter` writes it.
"""

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from deniable.engines.handover.written_plan import WrittenStatement
from deniable.query.plan.plan import Plan, Statement

BATCH = 1 << 17  # groups


class IbisConnection(ABC):
    """The tables of a policy in one connection of Ibis."""

    runs_plan_text = False  # whether it runs the plan's text, after the definitions of tables

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.types: dict[str, dict[str, str]] = {}
        self.collated: dict[str, set[str]] = {}

    def list_tables(self) -> list[str]:
        """The names of all tables in the connection."""
        return sorted(self.backend.list_tables())

    @abstractmethod
    def add(self, name: str, table: Any) -> None:
        """Reads the names and types of a table's columns, no value; refuses a table by which
        one row could fail or change other rows."""

    @abstractmethod
    def add_named(self, name: str, table: str) -> None:
        """The same for a table by its name in the back end."""

    @abstractmethod
    def write(self, plan: Plan, statement: Statement, salt: int) -> WrittenStatement:
        """A statement in the text of the back end. Raises Unsupported if the back end cannot
        run it. Runs nothing."""

    @abstractmethod
    def run(self, statement: WrittenStatement, seconds: float) -> "Iterator[pa.RecordBatch]":
        """Runs a statement; yields one batch or more, or raises when the time is up."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All statements in this context see the same rows, if the back end can do that."""
        return contextlib.nullcontext()


@contextlib.contextmanager
def interrupt_after(seconds: float, driver: Any) -> Iterator[None]:
    """Interrupts the statement of a driver when the time is up; it then raises an error."""
    timer = threading.Timer(seconds, driver.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
