"""The parts that a question is made of: expressions, and the relations that it reads.

All are small frozen trees. An analyst's text is parsed into these and goes no further: the
engine's SQL is written from them. Row expressions are made of columns, literals and calls of
the functions in `function_table.py`; group expressions may also hold aggregates.

A tree says what was written, and nothing about what it means. Names are looked up, and what
cannot be private is refused, when a question meets a policy (`relations/resolve.py`).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from deniable.exact.rationals import decimal_text
from deniable.query.language.sql_text import call_text
from deniable.query.plan.quoting import quote_text

_LONGEST_SHOWN, _MOST_SHOWN = 1000, 400  # characters and arguments of a printed expression

Value: TypeAlias = Fraction | str | bool | None


def shorten_text(text: str) -> str:
    """The text, cut if it is too long. Names are made of it, and further names of those.

    >>> len(shorten_text("x" * 10_000))
    1000
    """
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column. `table` names its table, if several have a column of that name."""

    name: str
    table: str | None = None

    def __str__(self) -> str:
        return self.name if self.table is None else f"{self.table}.{self.name}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: an exact number, text, a truth value or NULL.

    >>> str(Literal(Fraction(1, 2))), str(Literal("it's"))
    ('0.5', "'it''s'")
    """

    value: Value

    def __str__(self) -> str:
        if self.value is None:
            return "NULL"
        if isinstance(self.value, str):
            return quote_text(self.value)
        if isinstance(self.value, bool):
            return str(self.value).upper()
        return decimal_text(self.value)


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator applied to arguments."""

    name: str
    arguments: "tuple[Expression, ...]"

    def __str__(self) -> str:
        shown = [str(argument) for argument in self.arguments[:_MOST_SHOWN]]
        return shorten_text(call_text(self.name, shown))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of a group: its name and its argument (None: whole rows).

    >>> str(Aggregate("avg", ColumnRef("cost"))), str(Aggregate("count", None))
    ('AVG(cost)', 'COUNT(*)')
    >>> str(Aggregate("quantile", ColumnRef("cost"), levels=(Fraction(9, 10),)))
    'QUANTILE_CONT(cost, 0.9)'
    """

    name: str
    argument: "Expression | None"
    bins: int | None = None  # of HISTOGRAM; for TOP_K, the number of values
    second: "Expression | None" = None  # the second argument of CORR and the like
    levels: tuple[Fraction, ...] = ()  # of quantiles

    def __str__(self) -> str:
        if self.name == "count_units":
            return shorten_text(f"COUNT(DISTINCT {self.argument})")
        if self.name == "sum_distinct":
            return shorten_text(f"SUM(DISTINCT {self.argument})")
        if self.levels:
            return self._quantiles()
        test = self.argument.arguments[0] if isinstance(self.argument, Call) else None
        if isinstance(test, Call) and test.name == "outside":
            return f"CLIPPED({test.arguments[0]})"
        inside = "*" if self.argument is None else str(self.argument)
        rest = [str(part) for part in (self.second, self.bins) if part is not None]
        return shorten_text(f"{self.name.upper()}({', '.join([inside, *rest])})")

    def _quantiles(self) -> str:
        if self.name == "quantile" and self.levels == (Fraction(1, 2),):
            return f"MEDIAN({self.argument})"
        levels = ", ".join(decimal_text(level) for level in self.levels)
        several = levels if self.name == "quantile" else f"[{levels}]"
        return shorten_text(f"QUANTILE_CONT({self.argument}, {several})")

    @property
    def default_name(self) -> str:
        """The first part of the name of an output without an alias.

        >>> Aggregate("quantile", ColumnRef("cost"), levels=(Fraction(9, 10),)).default_name
        'quantile_0.9'
        """
        if self.name == "count_units":
            return "distinct"
        if self.name == "sum_distinct":
            return "sum"
        if self.name == "quantile":
            level = self.levels[0]
            return "median" if level == Fraction(1, 2) else f"quantile_{decimal_text(level)}"
        return self.name

    @property
    def arguments(self) -> "tuple[Expression, ...]":
        """Its row expressions."""
        return tuple(part for part in (self.argument, self.second) if part is not None)


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A question inside an expression: EXISTS (...), x IN (...), or a single value (...)."""

    kind: str  # "exists", "in" or "value"
    query: "Selection"
    argument: "Expression | None" = None  # of IN

    @property
    def arguments(self) -> "tuple[Expression, ...]":
        """The parts that refer to the rows of the outer question."""
        return () if self.argument is None else (self.argument,)

    @property
    def parts(self) -> "tuple[Part, ...]":
        """All parts, including those that refer to other rows."""
        return (self.query, *self.arguments)

    def __str__(self) -> str:
        if self.kind == "in":
            return f"{self.argument} IN (SELECT ...)"
        return "EXISTS (SELECT ...)" if self.kind == "exists" else "(SELECT ...)"


@dataclass(frozen=True, slots=True)
class Named:
    """A selected or grouping expression, and its name in the answer."""

    name: str
    expression: "Expression"


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table of the policy, with an optional alias."""

    name: str
    alias: str | None = None

    @property
    def parts(self) -> "tuple[Part, ...]":
        """A table has no parts."""
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
    where: "Expression | None" = None
    keys: tuple[Named, ...] = ()
    having: "Expression | None" = None
    distinct: bool = False
    by_all: bool = False  # GROUP BY ALL: by every output that is not an aggregate
    qualify: "Expression | None" = None  # about windows

    @property
    def parts(self) -> "tuple[Part, ...]":
        """The source and all expressions."""
        expressions = [
            named.expression
            for named in (*self.outputs, *self.keys)
            if isinstance(named, Named)
        ]
        conditions = (self.where, self.having, self.qualify)
        return (
            self.source,
            *expressions,
            *(condition for condition in conditions if condition is not None),
        )


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of several selections, one after the other."""

    parts: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """A sub-query in FROM, with its alias."""

    query: Selection | UnionAll
    alias: str | None = None
    columns: tuple[str, ...] = ()  # new names of the first columns: AS t(i, j)

    @property
    def parts(self) -> "tuple[Part, ...]":
        """The sub-query."""
        return (self.query,)


@dataclass(frozen=True, slots=True)
class Join:
    """A join of two relations: on a condition, or on columns with the same name."""

    left: "Relation"
    right: "Relation"
    kind: str  # "inner", "left", "right", "full" or "cross"
    on: "Expression | None" = None
    using: tuple[str, ...] = ()
    natural: bool = False  # on all columns that have the same name

    @property
    def parts(self) -> "tuple[Part, ...]":
        """Both sides, and the condition."""
        both: tuple[Part, ...] = self.left, self.right
        return both if self.on is None else (*both, self.on)


@dataclass(frozen=True, slots=True)
class Unnested:
    """A relation whose rows are repeated for each element of a list: FROM a, UNNEST(a.x)."""

    source: "Relation"
    column: ColumnRef
    alias: str | None = None
    name: str | None = None  # of the elements' column
    outer: bool = False  # whether rows without elements stay

    @property
    def parts(self) -> "tuple[Part, ...]":
        """The relation and the list."""
        return (self.source, self.column)


Expression: TypeAlias = ColumnRef | Literal | Call | Aggregate | SubQuery
Relation: TypeAlias = TableRef | Derived | Join | Unnested
Part: TypeAlias = Expression | Relation | Selection | UnionAll
