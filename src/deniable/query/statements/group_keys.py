"""Group keys: declared ones, which all appear, or private ones, which must earn their place."""

from fractions import Fraction

from deniable.errors import InvalidQuery
from deniable.query.language.syntax_tree import ColumnRef, Expression, Named
from deniable.query.plan.grid_steps import common_step
from deniable.query.plan.key_list import MOST_STEPS, key_list_of
from deniable.query.plan.plan import GroupKey, KeyValue
from deniable.query.relations.scope import Scope
from deniable.query.relations.value_ranges import ValueRange

_CLOSE = 10**6  # steps between keys of a column that has no grid of its own
MOST_LISTED = 10_000  # keys that limits and a grid may stand for


def key_of(named: Named, scope: Scope) -> GroupKey:
    """The plan's key for a grouping expression."""
    known = scope.value_range(named.expression)
    if known.kind is None:
        raise InvalidQuery(f"GROUP BY {named.expression} groups by nothing: name a column.")
    declared = _declared(named.expression, scope)
    if isinstance(declared, tuple):
        step = _grid(declared, known.step) if known.kind == "number" else None
        return _countable(GroupKey(named.name, known.kind, declared, step))
    if known.kind == "boolean" and declared is None:
        return GroupKey(named.name, "boolean", (False, True))
    if known.kind != "number":
        return GroupKey(named.name, known.kind, None)
    if known.step is None:
        raise InvalidQuery(
            f"GROUP BY {named.expression} has no grid: each value could be a group of its own. "
            f"Round it, for example GROUP BY FLOOR({named.expression} / 10) * 10, or declare "
            "its step in the policy."
        )
    values = _listed(known) if declared is None else None
    return _countable(GroupKey(named.name, "number", values, known.step))


def _countable(key: GroupKey) -> GroupKey:
    """The key, if its numbers in whole steps fit into 64 bits."""
    declared = key.kind == "number" and key.values
    if declared and key_list_of(declared).steps(key.step or Fraction(1)) is None:
        raise InvalidQuery(
            f"The groups of {key.name} lie too far from zero to be told apart: group by "
            "numbers of at most 18 digits."
        )
    return key


def _grid(declared: tuple[KeyValue, ...], step: Fraction | None) -> Fraction:
    """A grid that holds the declared numbers, and the column's others beside them: whoever
    is 12 must not count as 10, though 10 and 20 alone are declared."""
    known = key_list_of(declared)
    common = known.common_step or Fraction(1)
    if step is not None:
        return common_step([common, step]) or common
    close = known.largest / common * _CLOSE <= MOST_STEPS
    return common / _CLOSE if close else common


def _declared(expression: Expression, scope: Scope) -> tuple[KeyValue, ...] | str | None:
    return scope.column(expression.name).keys if isinstance(expression, ColumnRef) else None


def _listed(known: ValueRange) -> tuple[KeyValue, ...] | None:
    """All values on the grid between limits, if they are not too many."""
    if known.low is None or known.high is None or known.step is None:
        return None
    first, last = (known.low / known.step).__ceil__(), (known.high / known.step).__floor__()
    if last - first >= MOST_LISTED:
        return None
    return tuple(_plain(i * known.step) for i in range(first, last + 1))


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def combinations(keys: tuple[GroupKey, ...]) -> int | None:
    """How many groups the declared keys make; None where a key is private."""
    count = 1
    for key in keys:
        if key.values is None:
            return None
        count *= len(key.values)
    return count
