"""Functions over expressions: list their parts, measure their length, replace their columns."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from deniable.errors import InvalidQuery
from deniable.query.language.date_parts import DATE_PARTS
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Part,
    SubQuery,
    TableRef,
)

LONGEST = 20_000  # the most words of one expression, written out
_REPEATED = {
    "joined": 2,
    "concat": 2,
    "clamp": 3,
    "power": 3,
    "sqrt": 2,
    "exp": 2,
    "ln": 2,
    "log10": 2,
    "log2": 2,
}
_REPEATED["cast text"] = 3
_REPEATED |= dict.fromkeys(DATE_PARTS, 2)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all its parts, outermost first.

    >>> [str(part) for part in walk(Call("abs", (ColumnRef("x"),)))]
    ['ABS(x)', 'x']
    """
    yield expression
    if not isinstance(expression, ColumnRef | Literal):
        for argument in expression.arguments:
            yield from walk(argument)


def tables_in(part: Part) -> Iterator[TableRef]:
    """All tables that a relation or an expression reads, as they are written."""
    if isinstance(part, TableRef):
        yield part
    elif isinstance(part, Call | Aggregate):
        for argument in part.arguments:
            yield from tables_in(argument)
    elif not isinstance(part, ColumnRef | Literal):
        for inner in part.parts:
            yield from tables_in(inner)


def repeats(name: str) -> int:
    """How often, at most, the engine's SQL of a function repeats each of its arguments.

    >>> repeats("abs"), repeats("sqrt"), repeats("start of month")
    (1, 2, 2)
    """
    if name.endswith("s later"):
        return 4
    dates = name.endswith(" between") or name.startswith("start of ")
    return 2 if dates else _REPEATED.get(name, 1)


def size(expression: "Part", _cache: dict[int, int] | None = None) -> int:
    """The approximate length of the engine's SQL of an expression, in words.

    A tree may hold one part in many places (`CASE x WHEN`, `BETWEEN`), and the SQL may repeat
    an argument, so a short text can become a huge one. Parts that were already counted are
    remembered. Everything is counted that a comparison of two trees visits, so sub-queries
    count with all their parts.

    >>> size(Call("+", (ColumnRef("x"), ColumnRef("y"))))
    3
    """
    cache = {} if _cache is None else _cache
    if id(expression) not in cache:
        parts: tuple[Part, ...] = ()
        if isinstance(expression, Call | Aggregate):
            parts = expression.arguments
        elif not isinstance(expression, ColumnRef | Literal):
            parts = expression.parts
        times = _times(expression) if isinstance(expression, Call) else 1
        cache[id(expression)] = 1 + sum(
            (1 if _in_chain(part, expression) else times) * size(part, cache) for part in parts
        )
    return cache[id(expression)]


def _times(call: Call) -> int:
    """How often the engine's SQL of a call repeats its arguments: REPLACE by a longer text
    measures its argument first."""
    if call.name != "replace" or len(call.arguments) != 3:
        return repeats(call.name)
    old, new = (
        len(part.value.encode())
        if isinstance(part, Literal) and isinstance(part.value, str)
        else 0
        for part in call.arguments[1:]
    )
    return 4 if new > old else 1


def _in_chain(part: "Part", whole: "Part") -> bool:
    """Whether both put texts together as one list, so the inner one is not repeated."""
    if not (isinstance(part, Call) and isinstance(whole, Call)):
        return False
    return part.name == whole.name and part.name in ("joined", "concat")


def replace_columns(
    expression: Expression,
    rename: Callable[[ColumnRef], Expression],
    _cache: dict[int, Expression] | None = None,
) -> Expression:
    """The expression with its columns replaced, except those inside sub-queries.

    A part that is used in many places stays one part.

    >>> str(replace_columns(Call("abs", (ColumnRef("x"),)), lambda column: ColumnRef("y")))
    'ABS(y)'
    """
    cache = {} if _cache is None else _cache
    if id(expression) not in cache:
        result = expression
        if isinstance(expression, ColumnRef):
            result = rename(expression)
        elif isinstance(expression, Call):
            inner = tuple(
                replace_columns(argument, rename, cache) for argument in expression.arguments
            )
            result = Call(expression.name, inner)
        elif isinstance(expression, Aggregate):
            first, second = (
                None if argument is None else replace_columns(argument, rename, cache)
                for argument in (expression.argument, expression.second)
            )
            result = replace(expression, argument=first, second=second)
        elif isinstance(expression, SubQuery) and expression.argument is not None:
            result = replace(
                expression, argument=replace_columns(expression.argument, rename, cache)
            )
        cache[id(expression)] = result
    return cache[id(expression)]


def check_sizes(expressions: Iterable[Expression | None]) -> None:
    """Refuses expressions that are short, but would be too long when written out."""
    if any(expression is not None and size(expression) > LONGEST for expression in expressions):
        raise InvalidQuery(
            "An expression repeats parts of itself too often, as nested CASE or BETWEEN do: "
            "written out, it would be too long. Nest fewer of them."
        )


def aggregates_in(expression: Expression) -> list[Aggregate]:
    """The aggregates in an expression, each once, in order of appearance.

    >>> ratio = Call("/", (Aggregate("sum", ColumnRef("x")),) * 2)
    >>> [str(aggregate) for aggregate in aggregates_in(ratio)]
    ['SUM(x)']
    """
    return list(dict.fromkeys(leaf for leaf in walk(expression) if isinstance(leaf, Aggregate)))


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The conditions that must all hold.

    >>> [str(part) for part in conjuncts(Call("and", (ColumnRef("a"), ColumnRef("b"))))]
    ['a', 'b']
    """
    if condition is None:
        return ()
    if isinstance(condition, Call) and condition.name == "and":
        return tuple(part for argument in condition.arguments for part in conjuncts(argument))
    return (condition,)


def conjunction(conditions: Iterable[Expression | None]) -> Expression | None:
    """All conditions as one flat AND; None for an empty list.

    >>> str(conjunction([ColumnRef("a"), None, ColumnRef("b")]))
    '(a AND b)'
    """
    parts = [part for condition in conditions for part in conjuncts(condition)]
    if len(parts) < 2:
        return parts[0] if parts else None
    return Call("and", tuple(parts))
