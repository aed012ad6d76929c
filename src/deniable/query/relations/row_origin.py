"""Where rows come from: the tables, the unit, and what one unit may contribute."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from deniable.query.relations.row_numbers import Numbered


class RowSource(Protocol):
    """What rows are made of, where they are not simply those of a table."""

    def select(self, names: Sequence[str]) -> exp.Select:
        """Those columns, each as d and its place among the scope's, and the unit as u."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose rows something is made of, and what one unit may contribute to an answer.

    `single` says that a unit has one row at most. It only sets how much noise there is: the
    limit holds in the engine whatever the rows are.
    """

    tables: tuple[str, ...] = ()  # the private ones, each once
    public: tuple[str, ...] = ()
    counted: tuple[Numbered, ...] = ()
    unit: str | None = None  # the column that tells units apart; None: rows are units
    unit_type: str | None = None  # the type in which units of several tables are compared
    single: bool = False
    max_groups_per_unit: int = 1
    max_rows_per_unit_per_group: int = 1

    @classmethod
    def of(cls, parts: "Sequence[Origin]", *, single: bool) -> "Origin":
        """Of what is made of several: all their tables, and the wider limits."""
        public = tuple(dict.fromkeys(name for one in parts for name in one.public))
        private = [one for one in parts if one.tables]
        if not private:
            return cls(public=public)
        return cls(
            tuple(dict.fromkeys(name for one in private for name in one.tables)),
            public,
            tuple(dict.fromkeys(rows for one in private for rows in one.counted)),
            private[0].unit,
            private[0].unit_type,
            single,
            max(one.max_groups_per_unit for one in private),
            max(one.max_rows_per_unit_per_group for one in private),
        )


NOBODY = Origin()


def hidden(name: str, columns: Iterable[str]) -> str:
    """What a unit is called that no column shows, so that no column is taken for it.

    >>> hidden("row", ["age", "(row)"])
    '((row))'
    """
    taken, made = {one.lower() for one in columns}, f"({name.strip('()')})"
    while made.lower() in taken:
        made = f"({made})"
    return made
