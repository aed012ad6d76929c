"""Two tables side by side; Polars, as Ibis has it, joins by what is equal alone.

A condition about one side is then put into what is compared: where it fails the key is NULL,
which equals nothing. Whatever else a JOIN asks for is a filter of what was joined; where rows
without a partner are kept (LEFT, RIGHT, FULL) that would be another question, and is refused.
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
    """A table whose columns have names that no other has, and ours for them: alias.name."""

    table: Value
    names: dict[str, str]

    def values(self) -> dict[str, Value]:
        """Our columns."""
        return {key: self.table[one] for key, one in self.names.items()}

    def has(self, node: exp.Expr) -> bool:
        """Whether all that a value is made of is here."""
        found = [f"{one.table}.{one.name}" for one in node.find_all(exp.Column)]
        return bool(found) and all(one in self.names for one in found)


def join_sides(
    left: JoinSide, right: JoinSide, join: exp.Join, read: ReadValue, *, by_equals: bool
) -> JoinSide:
    """Both sides; `by_equals` says that a backend joins by nothing else."""
    how = _HOW.get(" ".join(filter(None, (join.side, join.kind))).upper())
    on = join.args.get("on")
    if how is None or join.args.get("using") or (on is None and how != "inner"):
        raise unsupported(join)
    whole = [] if on is None else list(on.flatten()) if isinstance(on, exp.And) else [on]
    tests = [one for one in whole if not (isinstance(one, exp.Boolean) and one.this)]
    names = left.names | right.names
    if by_equals:
        table = _join_on_equality(left, right, tests, how, read, join)
    else:
        values = left.values() | right.values()
        said = [read(values, one) for one in tests] or [ibis.literal(True)]
        table = left.table.join(right.table, said, how=how)
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
    pairs = {one: _split_equality(one, left, right) for one in tests}
    keys = [[_widen_key(read(values, one)) for one in pair] for pair in pairs.values() if pair]
    rest = [one for one, pair in pairs.items() if pair is None]
    if not keys and how == "inner":
        return _filter(left.table.cross_join(right.table), left, right, rest, read)
    for place, side in enumerate((left, right)):
        for one in [one for one in rest if keys and side.has(one)]:
            keys[0][place] = ibis.cases((read(values, one), keys[0][place]))
            rest.remove(one)
    if not keys or (rest and how != "inner"):
        raise unsupported(join)
    table = left.table.join(right.table, [a == b for a, b in keys], how=how)
    return _filter(table, left, right, rest, read)


def _filter(
    table: Value, left: JoinSide, right: JoinSide, tests: list[exp.Expr], read: ReadValue
) -> Value:
    for one in tests:
        table = table.filter(read(JoinSide(table, left.names | right.names).values(), one))
    return table


def _split_equality(
    test: exp.Expr, left: JoinSide, right: JoinSide
) -> tuple[exp.Expr, exp.Expr] | None:
    """The left one's and the right one's part of what must be equal."""
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
    """Integers of one width, because others are never equal there."""
    return value.cast("int64") if value.type().is_integer() else value
