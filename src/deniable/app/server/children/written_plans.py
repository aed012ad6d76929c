"""The final text of a plan's statements as JSON, on its way to and from a child."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from deniable.engines.handover.written_plan import WrittenStatement


def write_statements(statements: Sequence[WrittenStatement]) -> list[dict[str, Any]]:
    """Statements as JSON.

    >>> text = WrittenStatement("groups", "", "SELECT 1 AS n")
    >>> read_statements(write_statements([text])) == (text,)
    True
    """
    return [asdict(statement) for statement in statements]


def read_statements(written: Sequence[dict[str, Any]]) -> tuple[WrittenStatement, ...]:
    """The statements that `write_statements` wrote."""
    return tuple(WrittenStatement(**statement) for statement in written)
