"""Joins of two tables; through Ibis, Polars joins only on equality.

There a condition on one side becomes part of a compared key: if it fails, the key is NULL,
which equals nothing. Other conditions of an inner join filter its result. In a join that keeps
rows without a partner (LEFT, RIGHT, FULL) that would change the result, so they are refused.
"""

from collections.abc import Callable
from dataclasses import dataclass

import ibis
from sqlglot import exp

from deniable.engines.ibis.casts import unsupported
from deniable.engines.ibis.wide_integers import Value

ReadValue = Callable[[dict[str, Value], exp.Expr], Value]
_HOW = {"": "inner", "INNER": "inner", "CROSS": "inner", "LEFT": "left", "RIGHT": "right"}
_HOW |= {"FULL": "outer", "LEFT OUTER": "left", "RIGHT OUTER": "right", "FULL OUTER": "outer"}


@dataclass(frozen=True, slots=True)
class JoinSide:
    """A table with unique column names, and our names for its columns: alias.name."""

    table: Value
    names: dict[str, str]

    def values(self) -> dict[str, Value]:
        """The columns, by our names."""
        return {key: self.table[column] for key, column in self.names.items()}

    def has(self, node: exp.Expr) -> bool:
        """Whether a value uses columns, and all of them are on this side."""
        columns = [f"{column.table}.{column.name}" for column in node.find_all(exp.Column)]
        return bool(columns) and all(name in self.names for name in columns)


def join_sides(
    left: JoinSide, right: JoinSide, join: exp.Join, read: ReadValue, *, by_equals: bool
) -> JoinSide:
    """Joins both sides; with `by_equals` the backend joins only on equality."""
    how = _HOW.get(" ".join(filter(None, (join.side, join.kind))).upper())
    on = join.args.get("on")
    if how is None or join.args.get("using") or (on is None and how != "inner"):
        raise unsupported(join)
    conditions = [] if on is None else list(on.flatten()) if isinstance(on, exp.And) else [on]
    tests = [test for test in conditions if not (isinstance(test, exp.Boolean) and test.this)]
    names = left.names | right.names
    if by_equals:
        table = _join_on_equality(left, right, tests, how, read, join)
    else:
        values = left.values() | right.values()
        predicates = [read(values, test) for test in tests] or [ibis.literal(True)]
        table = left.table.join(right.table, predicates, how=how)
    return JoinSide(table.select(*names.values()), names)


def _join_on_equality(
    left: JoinSide,
    right: JoinSide,
    tests: list[exp.Expr],
    how: str,
    read: ReadValue,
    join: exp.Join,
) -> Value:
    values = left.values() | right.values()
    pairs = {test: _split_equality(test, left, right) for test in tests}
    keys = [
        [_widen_key(read(values, test)) for test in pair] for pair in pairs.values() if pair
    ]
    rest = [test for test, pair in pairs.items() if pair is None]
    if not keys and how == "inner":
        return _filter(left.table.cross_join(right.table), left, right, rest, read)
    for place, side in enumerate((left, right)):
        for test in [test for test in rest if keys and side.has(test)]:
            keys[0][place] = ibis.cases((read(values, test), keys[0][place]))
            rest.remove(test)
    if not keys or (rest and how != "inner"):
        raise unsupported(join)
    table = left.table.join(right.table, [a == b for a, b in keys], how=how)
    return _filter(table, left, right, rest, read)


def _filter(
    table: Value, left: JoinSide, right: JoinSide, tests: list[exp.Expr], read: ReadValue
) -> Value:
    for test in tests:
        table = table.filter(read(JoinSide(table, left.names | right.names).values(), test))
    return table


def _split_equality(
    test: exp.Expr, left: JoinSide, right: JoinSide
) -> tuple[exp.Expr, exp.Expr] | None:
    """The left and the right side of an equality between both tables; None otherwise."""
    equal = test.unnest()
    if not isinstance(equal, exp.EQ):
        return None
    first, second = equal.this, equal.expression
    if left.has(first) and right.has(second):
        return first, second
    if left.has(second) and right.has(first):
        return second, first
    return None


def _widen_key(value: Value) -> Value:
    """Widens integers to 64 bits: in Polars, integers of different widths are never equal."""
    return value.cast("int64") if value.type().is_integer() else value
