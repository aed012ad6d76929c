"""Which groups an answer has, and in which order. The order of the data does not matter.

Declared keys: every combination, in the order of declaration, even without rows. Private keys:
those whose noisy number of units passes the threshold, sorted. With `other`, one more group
holds all other rows. Apart from the keys, the result is still exact and private.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deniable.engines.handover.declared_keys import engine_values
from deniable.engines.handover.exact_groups import CellCounts, ExactGroups, Integers
from deniable.query.plan.key_list import is_consecutive
from deniable.query.plan.plan import GroupKey, Plan
from deniable.release.answer.cell_places import (
    PlacedCells,
    features_from_cells,
    place_among_declared,
    place_among_shown,
)
from deniable.release.answer.saturation import saturate

_WIDE = 2**63


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of an answer. With `other`, the last one has the key NULL."""

    keys: tuple["pa.Array[Any]", ...]
    count: int
    features: dict[str, Integers] = field(repr=False)
    units: NDArray[np.float64] | None  # already noisy; NaN for the other group
    cells: dict[str, PlacedCells] = field(repr=False, default_factory=dict)  # by statement


def form_groups(plan: Plan, exact: ExactGroups | Iterator[ExactGroups]) -> Groups:
    """The groups of the answer. Batches are read one by one; hidden groups are not stored."""
    listed = exact if isinstance(exact, Iterator) else (exact,)
    batches = (saturate(plan, batch) for batch in listed)
    return (
        _declared_groups(plan, batches)
        if plan.thresholding is None
        else _private_groups(plan, batches)
    )


def _declared_groups(plan: Plan, batches: Iterable[ExactGroups]) -> Groups:
    lists = [engine_values(key) for key in plan.keys]
    sizes = [len(values) for values in lists]
    count = prod(sizes)
    consecutive = [_is_consecutive(values) for values in lists]
    if not all(consecutive):
        batches = (ExactGroups.join(batches),)  # so that keys are looked up all at once
    features: dict[str, Integers] = {}
    other = OtherGroup(plan.features if plan.other else ())
    counted: dict[str, CellCounts] = {}
    for exact in batches:
        counted |= exact.cells
        if not exact.features:  # the plan has cells only
            continue
        place, known = np.zeros(exact.groups, np.int64), np.ones(exact.groups, np.bool_)
        for column, values, in_range in zip(exact.keys, lists, consecutive, strict=True):
            find = _places_in_range if in_range else _look_up_places
            digit, is_key = find(column, values)
            known &= is_key
            place = place * len(values) + digit
        other.add(exact, ~known)
        for name, integers in exact.features.items():
            if name not in features:
                features[name] = np.zeros(count, np.int64)
            features[name] = _spread(features[name], place, known, integers)
    keys = [_as_declared(key, values) for key, values in zip(plan.keys, lists, strict=True)]
    crossed = _cross(keys, sizes)
    if plan.other:
        crossed, count = [_append_null(column) for column in crossed], count + 1
    cells = place_among_declared(counted, lists, count - 1 if plan.other else -1)
    features = other.with_total(features) | features_from_cells(plan, cells, count)
    return Groups(tuple(crossed), count, features, None, cells)


def _spread(
    spread: Integers, place: NDArray[np.int64], known: NDArray[np.bool_], values: Integers
) -> Integers:
    """Writes the values with a known place to their places."""
    if values.dtype == object:
        spread = spread.astype(object)
    if known.all():
        spread[place] = values
    else:
        spread[place[known]] = values[known]
    return spread


def _is_consecutive(values: "pa.Array[Any]") -> bool:
    return bool(pa.types.is_integer(values.type)) and is_consecutive(np.asarray(values))


def _look_up_places(
    column: "pa.Array[Any]", values: "pa.Array[Any]"
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Each key's place among the declared values (0 if not declared), and whether it is one."""
    index = pc.index_in(column, value_set=values.cast(column.type))
    return np.asarray(index.fill_null(0), dtype=np.int64), np.asarray(index.is_valid())


def _places_in_range(
    column: "pa.Array[Any]", values: "pa.Array[Any]"
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The same for consecutive whole numbers. There may be a million, so none is looked up."""
    first, last = values[0].as_py(), values[-1].as_py()
    place = np.asarray(column.fill_null(first), dtype=np.int64)
    inside = (first <= place) & (place <= last)
    if column.null_count:
        inside &= np.asarray(column.is_valid())
    return np.where(inside, place - first, 0), inside


def _private_groups(plan: Plan, batches: Iterable[ExactGroups]) -> Groups:
    assert plan.thresholding is not None
    other = OtherGroup(plan.features if plan.other else ())
    keys: list[list[pa.Array[Any]]] = [[] for _ in plan.keys]
    features: dict[str, list[Integers]] = {name: [] for name in ("units", *plan.features)}
    counted: dict[str, CellCounts] = {}
    for exact in batches:
        counted |= exact.cells
        assert exact.units is not None
        visible, noisy = plan.thresholding.release(exact.units)
        if plan.other:  # a group without a key belongs to the other group
            visible &= ~_has_no_key(exact)
            other.add(exact, ~visible)
        for parts, column in zip(keys, exact.keys, strict=True):
            parts.append(column.filter(pa.array(visible)))
        for name, values in ({"units": noisy} | exact.features).items():
            features[name].append(values[visible])
    # Column by column, so that only one column at a time is in memory twice.
    shown = [_join_parts(parts) for parts in keys]
    order = _order(shown)
    cells = place_among_shown(
        counted,
        [column.take(pa.array(order)) for column in shown] if counted else (),
        order.size if plan.other else -1,
    )
    for i, key in enumerate(plan.keys):
        column = _shown_values(key, _as_text(shown[i].take(pa.array(order))))
        shown[i] = _append_null(column) if plan.other else column
    ordered = {name: _join_in_order(features[name], order) for name in list(features)}
    units = ordered.pop("units").astype(np.float64)
    if plan.other:
        units = np.append(units, np.nan)
    ordered = other.with_total(ordered) | features_from_cells(plan, cells, units.size)
    return Groups(tuple(shown), units.size, ordered, units, cells)


def _join_parts(parts: list["pa.Array[Any]"]) -> "pa.Array[Any]":
    """The parts as one column; the list is emptied."""
    joined = pa.concat_arrays(parts)
    parts.clear()
    return joined


def _join_in_order(parts: list[Integers], order: NDArray[Any]) -> Integers:
    """The parts as one array, in that order; the list is emptied."""
    joined: Integers = np.concatenate(parts)
    parts.clear()
    return np.asarray(joined[order])


def _has_no_key(exact: ExactGroups) -> NDArray[np.bool_]:
    unnamed = np.ones(exact.groups, dtype=np.bool_)
    for column in exact.keys:
        unnamed &= ~np.asarray(column.is_valid())
    return unnamed


def _order(keys: Sequence["pa.Array[Any]"]) -> NDArray[Any]:
    """The order by keys; a single column sorts much faster than a table."""
    if len(keys) == 1:
        return np.asarray(pc.sort_indices(keys[0]))
    names = [f"k{i}" for i in range(len(keys))]
    sort_keys = [(name, "ascending") for name in names]
    return np.asarray(pc.sort_indices(pa.table(list(keys), names=names), sort_keys=sort_keys))


def _as_text(column: "pa.Array[Any]") -> "pa.Array[Any]":
    """Text in Arrow's usual type, if it is short enough for that."""
    if pa.types.is_large_string(column.type) and column.nbytes < 2**31:
        return column.cast(pa.string())
    return column


class OtherGroup:
    """The sums over all hidden groups, for the features in `names` (none without `other`)."""

    def __init__(self, names: Iterable[str]) -> None:
        self._sums: dict[str, int] = dict.fromkeys(names, 0)

    def add(self, exact: ExactGroups, hidden: NDArray[np.bool_]) -> None:
        """Adds the hidden groups to the sums, exactly."""
        for name in self._sums:
            self._sums[name] += sum(exact.features[name][hidden].tolist())

    def with_total(self, features: dict[str, Integers]) -> dict[str, Integers]:
        """The features with the other group appended."""
        return {
            name: _append_total(values, self._sums[name]) if name in self._sums else values
            for name, values in features.items()
        }


def _as_declared(key: GroupKey, column: "pa.Array[Any]") -> "pa.Array[Any]":
    if key.kind == "number" and key.step not in (None, 1):
        return pa.array(list(key.values or ()))
    return _shown_values(key, column)


def _shown_values(key: GroupKey, column: "pa.Array[Any]") -> "pa.Array[Any]":
    """The engine's keys as the answer shows them."""
    if key.kind == "date":
        try:
            return column.cast(pa.date32())
        except pa.ArrowInvalid:  # a year outside Arrow's calendar
            return column.cast(pa.string())
    if key.kind == "moment":
        return column.cast(pa.int64()).cast(pa.timestamp("s"))
    if key.kind != "number" or key.step in (None, 1):
        return column
    assert key.step is not None
    up, down = key.step.numerator, key.step.denominator
    numbers = [None if steps is None else steps * up for steps in column.to_pylist()]
    if down == 1 and all(-_WIDE < (number or 0) < _WIDE for number in numbers):
        return pa.array(numbers, type=pa.int64())
    decimals = [None if number is None else number / down for number in numbers]
    return pa.array(decimals, pa.float64())


def _cross(keys: Sequence["pa.Array[Any]"], sizes: Sequence[int]) -> list["pa.Array[Any]"]:
    """Every combination of keys; the last key varies fastest."""
    if len(keys) == 1:
        return list(keys)
    before, whole = 1, prod(sizes)
    crossed = []
    for key, size in zip(keys, sizes, strict=True):
        after = whole // (before * size) if size else 0
        place = np.tile(np.repeat(np.arange(size), after), before)
        crossed.append(key.take(pa.array(place)))
        before *= size
    return crossed


def _append_null(column: "pa.Array[Any]") -> "pa.Array[Any]":
    return pa.concat_arrays([column, pa.nulls(1, column.type)])


def _append_total(values: Integers, total: int) -> Integers:
    if values.dtype == object or abs(total) >= 2**62:
        return np.append(values.astype(object), np.array([total], dtype=object))
    return np.append(values, np.int64(total))
