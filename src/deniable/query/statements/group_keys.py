"""Group keys: declared ones, which all appear, or private ones.

A private key appears only if enough units are in its group.
"""

from fractions import Fraction

from deniable.errors import InvalidQuery
from deniable.exact.rationals import decimal_text
from deniable.query.language.syntax_tree import ColumnRef, Expression, Named
from deniable.query.plan.grid_steps import common_step
from deniable.query.plan.key_list import MOST_STEPS, key_list_of
from deniable.query.plan.plan import GroupKey, KeyValue
from deniable.query.relations.scope import Scope
from deniable.query.relations.value_ranges import ValueRange

_FINER = 10**6  # grid steps between declared keys, for a column without a step
MOST_LISTED = 10_000  # keys that are derived from the limits and the grid of a column


def key_of(named: Named, scope: Scope) -> GroupKey:
    """The plan's key for a grouping expression."""
    values = scope.value_range(named.expression)
    if values.kind is None:
        raise InvalidQuery(f"GROUP BY {named.expression} groups by NULL. Name a column.")
    declared = _declared_keys(named.expression, scope)
    if isinstance(declared, tuple):
        step = _grid(declared, values.step) if values.kind == "number" else None
        return _check_size(GroupKey(named.name, values.kind, declared, step))
    if values.kind == "boolean" and declared is None:
        return GroupKey(named.name, "boolean", (False, True))
    if values.kind != "number":
        timed = values.kind == "date" and values.timed
        return GroupKey(named.name, "moment" if timed else values.kind, None)
    if values.step is None:
        raise InvalidQuery(
            f"GROUP BY {named.expression} has no grid: each value could be a group of its own. "
            f"Round it, for example GROUP BY FLOOR({named.expression} / 10) * 10, or declare "
            "its step in the policy."
        )
    listed = _values_on_grid(values) if declared is None else None
    if listed == ():
        raise InvalidQuery(
            f"GROUP BY {named.expression} has no groups: no multiple of its step, "
            f"{decimal_text(values.step)}, lies between its limits."
        )
    return _check_size(GroupKey(named.name, "number", listed, values.step))


def _check_size(key: GroupKey) -> GroupKey:
    """The key, if its numbers in whole steps fit into 64 bits."""
    declared = key.kind == "number" and key.known
    if declared and key_list_of(declared).steps(key.step or Fraction(1)) is None:
        raise InvalidQuery(
            f"The groups of {key.name} lie too far from zero to be exact. Group by "
            "numbers of at most 18 digits."
        )
    return key


def _grid(declared: tuple[KeyValue, ...], step: Fraction | None) -> Fraction:
    """A grid of the declared numbers and of the column's other numbers: a row with 12 must not
    count as 10, although only 10 and 20 are declared."""
    numbers = key_list_of(declared)
    common = numbers.common_step or Fraction(1)
    if step is not None:
        return common_step([common, step]) or common
    close = numbers.largest / common * _FINER <= MOST_STEPS
    return common / _FINER if close else common


def _declared_keys(expression: Expression, scope: Scope) -> tuple[KeyValue, ...] | str | None:
    return scope.column(expression.name).keys if isinstance(expression, ColumnRef) else None


def _values_on_grid(values: ValueRange) -> tuple[KeyValue, ...] | None:
    """All values on the grid between the limits, if they are not too many."""
    if values.low is None or values.high is None or values.step is None:
        return None
    first, last = (values.low / values.step).__ceil__(), (values.high / values.step).__floor__()
    if last - first >= MOST_LISTED:
        return None
    return tuple(_whole_or_float(i * values.step) for i in range(first, last + 1))


def _whole_or_float(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
