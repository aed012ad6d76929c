"""Walks over expressions: what is in them, how long they are, their columns replaced."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from deniable.errors import InvalidQuery
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Part,
    SubQuery,
)

LONGEST = 20_000  # words of one expression, written out


_DATES = "year quarter month week day dayofyear dayofweek isodow hour minute second"
_REPEATED = {"clamp": 3, "power": 3, "sqrt": 2, "exp": 2, "ln": 2, "log10": 2, "log2": 2}
_REPEATED |= dict.fromkeys(_DATES.split(), 2)


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

    >>> size(Call("+", (ColumnRef("x"), ColumnRef("y"))))
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


def replace_columns(
    expression: Expression,
    rename: Callable[[ColumnRef], Expression],
    _known: dict[int, Expression] | None = None,
) -> Expression:
    """The expression with its columns replaced; those inside a sub-query are its own affair.

    A part that stands in many places stays one part.

    >>> str(replace_columns(Call("abs", (ColumnRef("x"),)), lambda one: ColumnRef("y")))
    'ABS(y)'
    """
    known = {} if _known is None else _known
    if id(expression) not in known:
        made = expression
        if isinstance(expression, ColumnRef):
            made = rename(expression)
        elif isinstance(expression, Call):
            inner = tuple(
                replace_columns(argument, rename, known) for argument in expression.arguments
            )
            made = Call(expression.name, inner)
        elif isinstance(expression, Aggregate):
            two = (expression.argument, expression.second)
            one, other = (None if x is None else replace_columns(x, rename, known) for x in two)
            made = replace(expression, argument=one, second=other)
        elif isinstance(expression, SubQuery) and expression.argument is not None:
            made = replace(
                expression, argument=replace_columns(expression.argument, rename, known)
            )
        known[id(expression)] = made
    return known[id(expression)]


def check_sizes(expressions: Iterable[Expression | None]) -> None:
    """Refuses expressions that are short, but stand for something huge."""
    if any(expression is not None and size(expression) > LONGEST for expression in expressions):
        raise InvalidQuery(
            "An expression repeats parts of itself too often, as nested CASE or BETWEEN do: "
            "written out, it would be too long. Split it."
        )


def aggregates_in(expression: Expression) -> list[Aggregate]:
    """The aggregates in an expression, each once, in order of appearance.

    >>> [str(one) for one in aggregates_in(Call("/", (Aggregate("sum", ColumnRef("x")),) * 2))]
    ['SUM(x)']
    """
    return list(dict.fromkeys(leaf for leaf in walk(expression) if isinstance(leaf, Aggregate)))


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The conditions that must all hold.

    >>> [str(one) for one in conjuncts(Call("and", (ColumnRef("a"), ColumnRef("b"))))]
    ['a', 'b']
    """
    if condition is None:
        return ()
    if isinstance(condition, Call) and condition.name == "and":
        return tuple(part for argument in condition.arguments for part in conjuncts(argument))
    return (condition,)


def conjunction(conditions: Iterable[Expression | None]) -> Expression | None:
    """All of them at once, as one flat AND; None where there is none.

    >>> str(conjunction([ColumnRef("a"), None, ColumnRef("b")]))
    '(a AND b)'
    """
    parts = [part for condition in conditions for part in conjuncts(condition)]
    if len(parts) < 2:
        return parts[0] if parts else None
    return Call("and", tuple(parts))
