"""Where rows come from: the tables, the unit, and what one unit may contribute."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from deniable.query.relations.row_numbers import NumberedRows


class RowSource(Protocol):
    """What rows are made of, where they are not simply those of a table."""

    def select(self, names: Sequence[str]) -> exp.Select:
        """Those columns, each as d and its place among the scope's, and the unit as u."""


@dataclass(frozen=True, slots=True)
class RowOrigin:
    """Whose rows something is made of, and what one unit may contribute to an answer.

    `one_row_per_unit` says that a unit has one row at most. It only sets how much noise there is: the
    limit holds in the engine whatever the rows are.
    """

    tables: tuple[str, ...] = ()  # the private ones, each once
    public: tuple[str, ...] = ()
    numbered: tuple[NumberedRows, ...] = ()
    unit: str | None = None  # the column that tells units apart; None: rows are units
    unit_type: str | None = None  # the type in which units of several tables are compared
    one_row_per_unit: bool = False
    max_groups_per_unit: int = 1
    max_rows_per_unit_per_group: int = 1

    @classmethod
    def combine(cls, parts: "Sequence[RowOrigin]", *, one_row_per_unit: bool) -> "RowOrigin":
        """Of what is made of several: all their tables, and the wider limits."""
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
        )


NO_ORIGIN = RowOrigin()


def hidden_name(name: str, columns: Iterable[str]) -> str:
    """What a unit is called that no column shows, so that no column is taken for it.

    >>> hidden_name("row", ["age", "(row)"])
    '((row))'
    """
    taken, made = {column.lower() for column in columns}, f"({name.strip('()')})"
    while made.lower() in taken:
        made = f"({made})"
    return made
