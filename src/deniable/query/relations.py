"""What a question is about: a table, or what sub-queries, joins and UNION ALL make of tables.

These trees say what was written, and nothing about what it means: names are looked up, and
what cannot be private is refused, when a question meets a policy (`views.py`).
"""

from dataclasses import dataclass
from typing import TypeAlias

from deniable.query.expressions import Expression
from deniable.query.question import Named


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table of the policy, under a name of its own or another."""

    name: str
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Star:
    """All columns: `*`, or `table.*`."""

    table: str | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """SELECT outputs FROM source WHERE ... GROUP BY ... HAVING ..., inside another question."""

    source: "Relation"
    outputs: tuple[Named | Star, ...]
    where: Expression | None = None
    keys: tuple[Named, ...] = ()
    having: Expression | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of several selections, one after the other."""

    parts: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """A sub-query in FROM, under the name that it is given there."""

    query: Selection | UnionAll
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Two relations side by side: where a condition holds, or columns of one name agree."""

    left: "Relation"
    right: "Relation"
    kind: str  # "inner", "left", "right", "full" or "cross"
    on: Expression | None = None
    using: tuple[str, ...] = ()


Relation: TypeAlias = TableRef | Derived | Join
