"""What a question says about rows and about groups: small frozen trees of our own.

Text from an analyst is parsed into these and never travels further: the engine's SQL is
written anew from them. Row expressions are made of columns, literals and calls of the
functions listed in `functions.py`; group expressions may also hold aggregates.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from deniable.errors import InvalidQuery

if TYPE_CHECKING:
    from deniable.query.language.sources import Relation, Selection, UnionAll

LONGEST = 20_000  # words of one expression, written out
_LONGEST_SHOWN, _MOST_SHOWN = 1000, 400  # characters of one that is shown; arguments

Value: TypeAlias = Fraction | str | bool | None


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column; `table` says of which, where several have one of that name."""

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
            return "'" + self.value.replace("'", "''") + "'"
        if isinstance(self.value, bool):
            return str(self.value).upper()
        return plain(self.value)


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator applied to arguments."""

    name: str
    arguments: "tuple[Expression, ...]"

    def __str__(self) -> str:
        shown = [str(one) for one in self.arguments[:_MOST_SHOWN]]
        if self.name in _INFIX and len(shown) > 1:
            return brief("(" + f" {self.name.upper()} ".join(shown) + ")")
        return brief(f"{self.name.upper()}({', '.join(shown)})")


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of a group: its name, and what it is over (None: whole rows).

    >>> str(Aggregate("avg", ColumnRef("cost"))), str(Aggregate("count", None))
    ('AVG(cost)', 'COUNT(*)')
    >>> str(Aggregate("quantile", ColumnRef("cost"), levels=(Fraction(9, 10),)))
    'QUANTILE_CONT(cost, 0.9)'
    """

    name: str
    argument: "Expression | None"
    bins: int | None = None  # of a histogram; of TOP_K, how many
    second: "Expression | None" = None  # of two columns that are set against one another
    levels: tuple[Fraction, ...] = ()  # of quantiles

    def __str__(self) -> str:
        if self.name == "count_units":
            return brief(f"COUNT(DISTINCT {self.argument})")
        if self.levels:
            return self._quantiles()
        inside = "*" if self.argument is None else str(self.argument)
        rest = [str(one) for one in (self.second, self.bins) if one is not None]
        return brief(f"{self.name.upper()}({', '.join([inside, *rest])})")

    def _quantiles(self) -> str:
        if self.name == "quantile" and self.levels == (Fraction(1, 2),):
            return f"MEDIAN({self.argument})"
        levels = ", ".join(plain(one) for one in self.levels)
        several = levels if self.name == "quantile" else f"[{levels}]"
        return brief(f"QUANTILE_CONT({self.argument}, {several})")

    @property
    def word(self) -> str:
        """What an output that was given no name begins with.

        >>> Aggregate("quantile", ColumnRef("cost"), levels=(Fraction(9, 10),)).word
        'quantile_0.9'
        """
        if self.name == "count_units":
            return "distinct"
        if self.name == "quantile":
            level = self.levels[0]
            return "median" if level == Fraction(1, 2) else f"quantile_{plain(level)}"
        return self.name

    @property
    def arguments(self) -> "tuple[Expression, ...]":
        """The row expressions that it is over."""
        return tuple(one for one in (self.argument, self.second) if one is not None)


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A question inside an expression: EXISTS (...), x IN (...), or a single value (...)."""

    kind: str  # "exists", "in" or "value"
    query: "Selection"
    argument: "Expression | None" = None  # of IN

    @property
    def arguments(self) -> "tuple[Expression, ...]":
        """What of it is about the rows around it."""
        return () if self.argument is None else (self.argument,)

    @property
    def parts(self) -> "tuple[Part, ...]":
        """All that it is made of, what is about other rows too."""
        return (self.query, *self.arguments)

    def __str__(self) -> str:
        if self.kind == "in":
            return f"{self.argument} IN (SELECT ...)"
        return "EXISTS (SELECT ...)" if self.kind == "exists" else "(SELECT ...)"


Expression: TypeAlias = ColumnRef | Literal | Call | Aggregate | SubQuery
Part: TypeAlias = "Expression | Relation | Selection | UnionAll"

_DATES = "year quarter month week day dayofyear dayofweek isodow hour minute second"
_REPEATED = {"clamp": 3, "power": 3, "sqrt": 2, "exp": 2, "ln": 2, "log10": 2, "log2": 2}
_REPEATED |= dict.fromkeys(_DATES.split(), 2)
_INFIX = {"+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", "and", "or"}


def brief(text: str) -> str:
    """The text, cut where it grows too long: names are made of it, and names of those.

    >>> len(brief("x" * 10_000))
    1000
    """
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all below it, outermost first.

    >>> [str(one) for one in walk(Call("abs", (ColumnRef("x"),)))]
    ['ABS(x)', 'x']
    """
    yield expression
    if not isinstance(expression, ColumnRef | Literal):
        for one in expression.arguments:
            yield from walk(one)


def repeats(name: str) -> int:
    """How often the engine's SQL for a function names each of its arguments, at most.

    >>> repeats("abs"), repeats("sqrt"), repeats("start of month")
    (1, 2, 2)
    """
    dates = name.endswith(" between") or name.startswith("start of ")
    return 2 if dates else _REPEATED.get(name, 1)


def size(expression: "Part", _known: dict[int, int] | None = None) -> int:
    """How long the engine's SQL for an expression would be, about, in words.

    A tree may hold one part in many places (`CASE x WHEN`, `BETWEEN`), and the SQL may name an
    argument twice, so that a short text stands for a huge one; counting remembers the parts
    that it has met. What is counted is all that comparing two trees has to walk through, so
    sub-queries count with all that is in them.

    >>> size(Call("+", (ColumnRef("x"), Literal(Fraction(1)))))
    3
    """
    known = {} if _known is None else _known
    if id(expression) not in known:
        below: tuple[Part, ...] = ()
        if isinstance(expression, Call | Aggregate):
            below = expression.arguments
        elif not isinstance(expression, ColumnRef | Literal):
            below = expression.parts
        times = repeats(expression.name) if isinstance(expression, Call) else 1
        known[id(expression)] = 1 + times * sum(size(one, known) for one in below)
    return known[id(expression)]


def renamed(
    expression: Expression,
    rename: Callable[[ColumnRef], Expression],
    _known: dict[int, Expression] | None = None,
) -> Expression:
    """The expression with its columns replaced; those inside a sub-query are its own affair.

    A part that stands in many places stays one part.

    >>> str(renamed(Call("abs", (ColumnRef("x"),)), lambda one: ColumnRef("y")))
    'ABS(y)'
    """
    known = {} if _known is None else _known
    if id(expression) not in known:
        made = expression
        if isinstance(expression, ColumnRef):
            made = rename(expression)
        elif isinstance(expression, Call):
            inner = tuple(renamed(one, rename, known) for one in expression.arguments)
            made = Call(expression.name, inner)
        elif isinstance(expression, Aggregate):
            two = (expression.argument, expression.second)
            one, other = (None if x is None else renamed(x, rename, known) for x in two)
            made = replace(expression, argument=one, second=other)
        elif isinstance(expression, SubQuery) and expression.argument is not None:
            made = replace(expression, argument=renamed(expression.argument, rename, known))
        known[id(expression)] = made
    return known[id(expression)]


def check_sizes(expressions: Iterable[Expression | None]) -> None:
    """Refuses expressions that are short, but stand for something huge."""
    if any(one is not None and size(one) > LONGEST for one in expressions):
        raise InvalidQuery(
            "An expression repeats parts of itself too often, as nested CASE or BETWEEN do: "
            "written out, it would be too long. Split it."
        )


def aggregates(expression: Expression) -> list[Aggregate]:
    """The aggregates in an expression, each once, in order of appearance.

    >>> [str(one) for one in aggregates(Call("/", (Aggregate("sum", ColumnRef("x")),) * 2))]
    ['SUM(x)']
    """
    return list(dict.fromkeys(one for one in walk(expression) if isinstance(one, Aggregate)))


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The conditions that must all hold.

    >>> [str(one) for one in conjuncts(Call("and", (ColumnRef("a"), ColumnRef("b"))))]
    ['a', 'b']
    """
    if condition is None:
        return ()
    if isinstance(condition, Call) and condition.name == "and":
        return tuple(part for one in condition.arguments for part in conjuncts(one))
    return (condition,)


def conjunction(conditions: Iterable[Expression | None]) -> Expression | None:
    """All of them at once, as one flat AND; None where there is none.

    >>> str(conjunction([ColumnRef("a"), None, ColumnRef("b")]))
    '(a AND b)'
    """
    parts = [part for one in conditions for part in conjuncts(one)]
    if len(parts) < 2:
        return parts[0] if parts else None
    return Call("and", tuple(parts))


def plain(number: Fraction) -> str:
    """A rational as a decimal, as short as it is exact; else with seventeen digits.

    >>> plain(Fraction(3)), plain(Fraction(1, 8)), plain(Fraction(1, 3))
    ('3', '0.125', '0.33333333333333331')
    """
    if number.denominator == 1:
        return str(number.numerator)
    short = repr(float(number))
    return short if Fraction(short) == number else format(float(number), ".17g")
