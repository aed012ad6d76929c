"""Where rows come from: the tables, the unit, and what one unit may contribute."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from deniable.query.relations.row_numbers import NumberedRows


class RowSource(Protocol):
    """Makes the rows of a relation that is not simply a table."""

    def select(self, names: Sequence[str]) -> exp.Select:
        """These columns, each as d and its position in the scope, and the unit as u."""


@dataclass(frozen=True, slots=True)
class RowOrigin:
    """The tables that rows come from, and what one unit may contribute to an answer.

    `one_row_per_unit` says that a unit has at most one row. It only sets the amount of noise:
    the engine enforces the limit whatever the rows are.
    """

    tables: tuple[str, ...] = ()  # the private ones, each once
    public: tuple[str, ...] = ()
    numbered: tuple[NumberedRows, ...] = ()
    unit: str | None = None  # the column that identifies the unit; None: each row is a unit
    unit_type: str | None = None  # the type in which units of several tables are compared
    one_row_per_unit: bool = False
    max_groups_per_unit: int = 1
    max_rows_per_unit_per_group: int = 1
    most_joined: int | None = None  # rows of one unit that each side of a join keeps
    # Columns that hold a key of a path to the unit, and which: rows with the same value of the
    # same key belong to the same unit.
    keys: tuple[tuple[str, str], ...] = ()

    @classmethod
    def combine(cls, parts: "Sequence[RowOrigin]", *, one_row_per_unit: bool) -> "RowOrigin":
        """The origin of rows made of several parts: all their tables, and the wider limits."""
        public = tuple(dict.fromkeys(name for part in parts for name in part.public))
        private = [part for part in parts if part.tables]
        if not private:
            return cls(public=public)
        return cls(
            tuple(dict.fromkeys(name for part in private for name in part.tables)),
            public,
            tuple(dict.fromkeys(rows for part in private for rows in part.numbered)),
            private[0].unit,
            private[0].unit_type,
            one_row_per_unit,
            max(part.max_groups_per_unit for part in private),
            max(part.max_rows_per_unit_per_group for part in private),
            max(part.most_joined or 0 for part in private) or None,
        )


NO_ORIGIN = RowOrigin()


def hidden_name(name: str, columns: Iterable[str]) -> str:
    """A name for a unit that no column holds. It differs from the names of all columns.

    >>> hidden_name("row", ["age", "(row)"])
    '((row))'
    """
    taken, hidden = {column.lower() for column in columns}, f"({name.strip('()')})"
    while hidden.lower() in taken:
        hidden = f"({hidden})"
    return hidden
