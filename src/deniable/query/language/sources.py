"""What a question is about: a table, or what sub-queries, joins and UNION ALL make of tables.

These trees say what was written, and nothing about what it means: names are looked up, and
what cannot be private is refused, when a question meets a policy (`views.py`).
"""

from dataclasses import dataclass
from typing import TypeAlias

from deniable.query.language.expressions import Expression, Part
from deniable.query.language.question import Named


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table of the policy, under a name of its own or another."""

    name: str
    alias: str | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Nothing is below a table."""
        return ()


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

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that is read and all that is said about it."""
        named = [
            one.expression for one in (*self.outputs, *self.keys) if isinstance(one, Named)
        ]
        said = [one for one in (self.where, self.having) if one is not None]
        return (self.source, *named, *said)


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of several selections, one after the other."""

    parts: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """A sub-query in FROM, under the name that it is given there."""

    query: Selection | UnionAll
    alias: str | None = None
    columns: tuple[str, ...] = ()  # the first ones, called anew: AS t(i, j)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The sub-query."""
        return (self.query,)


@dataclass(frozen=True, slots=True)
class Join:
    """Two relations side by side: where a condition holds, or columns of one name agree."""

    left: "Relation"
    right: "Relation"
    kind: str  # "inner", "left", "right", "full" or "cross"
    on: Expression | None = None
    using: tuple[str, ...] = ()
    natural: bool = False  # on all columns that are called alike

    @property
    def parts(self) -> tuple[Part, ...]:
        """Both sides, and the condition."""
        both: tuple[Part, ...] = self.left, self.right
        return both if self.on is None else (*both, self.on)


Relation: TypeAlias = TableRef | Derived | Join
