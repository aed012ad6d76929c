"""Which groups appear in an answer, and in which order: never a matter of the data's order.

Declared keys: every combination, in the order of declaration, empty ones too. Private keys:
those that pass the threshold on their noisy number of units, sorted. On request one more group
holds the rest. What comes out is as exact and private as what went in, but for the keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deniable.engines.aggregated import Aggregated, Integers
from deniable.query.plan import Key, Plan

_WIDE = 2**63


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of an answer; with `other` the last one is the rest, with keys NULL."""

    keys: tuple["pa.Array[Any]", ...]
    count: int
    features: dict[str, Integers] = field(repr=False)
    units: NDArray[np.float64] | None  # already noisy; NaN for the rest


def grouped(plan: Plan, exact: Aggregated) -> Groups:
    """The groups that appear."""
    return _declared(plan, exact) if plan.thresholding is None else _private(plan, exact)


def _declared(plan: Plan, exact: Aggregated) -> Groups:
    lists = [_engine_values(key) for key in plan.keys]
    sizes = [len(one) for one in lists]
    count = prod(sizes)
    place = np.zeros(exact.groups, dtype=np.int64)
    known = np.ones(exact.groups, dtype=np.bool_)
    for column, values, size in zip(exact.keys, lists, sizes, strict=True):
        found, is_key = _places(column, values)
        known &= is_key
        place = place * size + found
    features = {
        name: _scattered(values, place, known, count, plan.other)
        for name, values in exact.features.items()
    }
    keys = [_as_declared(key, values) for key, values in zip(plan.keys, lists, strict=True)]
    crossed = _crossed(keys, sizes)
    if plan.other:
        crossed = [_with_null(one) for one in crossed]
    return Groups(tuple(crossed), count + plan.other, features, None)


def _places(
    column: "pa.Array[Any]", values: "pa.Array[Any]"
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each group's key stands among the declared ones (0 if nowhere), and whether."""
    if pa.types.is_integer(column.type) and pa.types.is_integer(values.type):
        listed = np.asarray(values)
        if len(listed) and np.array_equal(listed, listed[0] + np.arange(len(listed))):
            # Whole numbers in a row, of which there may be a million: no need to look them up.
            place = np.asarray(column.fill_null(listed[0]), dtype=np.int64)
            inside = (listed[0] <= place) & (place <= listed[-1])
            return np.where(inside, place - listed[0], 0), inside & np.asarray(
                column.is_valid()
            )
    found = pc.index_in(column, value_set=values)
    return np.asarray(found.fill_null(0), dtype=np.int64), np.asarray(found.is_valid())


def _private(plan: Plan, exact: Aggregated) -> Groups:
    assert plan.thresholding is not None
    assert exact.units is not None
    kept, noisy = plan.thresholding.release(exact.units)
    if plan.other:  # a group without a key is part of the rest
        unnamed = np.ones(exact.groups, dtype=np.bool_)
        for column in exact.keys:
            unnamed &= ~np.asarray(column.is_valid())
        kept &= ~unnamed
    names = [f"k{i}" for i in range(len(exact.keys))]
    mask = pa.array(kept)
    shown = pa.table([column.filter(mask) for column in exact.keys], names=names)
    wanted = {"sort_keys": [(name, "ascending") for name in names]}
    alone = len(names) == 1  # a single column sorts much faster
    order = np.asarray(
        pc.sort_indices(shown["k0"]) if alone else pc.sort_indices(shown, **wanted)
    )
    keys = [
        _shown_values(key, shown[name].combine_chunks().take(pa.array(order)))
        for key, name in zip(plan.keys, names, strict=True)
    ]
    units = noisy[kept][order].astype(np.float64)
    features = {
        name: _with_rest(values[kept][order], values[~kept], plan.other)
        for name, values in exact.features.items()
    }
    if plan.other:
        keys = [_with_null(one) for one in keys]
        units = np.append(units, np.nan)
    return Groups(tuple(keys), units.size, features, units)


def _engine_values(key: Key) -> "pa.Array[Any]":
    """Declared values as the engine returns them: numbers in whole steps, the others plain."""
    assert key.values is not None
    if key.kind == "number":
        return pa.array(key.steps, type=pa.int64())
    if key.kind == "boolean":
        return pa.array([bool(one) for one in key.values])
    return pa.array([str(one) for one in key.values], type=pa.string())


def _as_declared(key: Key, found: "pa.Array[Any]") -> "pa.Array[Any]":
    if key.kind == "number" and key.step not in (None, 1):
        return pa.array(list(key.values or ()))
    return _shown_values(key, found)


def _shown_values(key: Key, found: "pa.Array[Any]") -> "pa.Array[Any]":
    """The engine's keys as the reader sees them."""
    if key.kind == "date":
        try:
            return found.cast(pa.date32())
        except pa.ArrowInvalid:  # a year that no calendar of Arrow's has
            return found.cast(pa.string())
    if key.kind != "number" or key.step in (None, 1):
        return found
    assert key.step is not None
    up, down = key.step.numerator, key.step.denominator
    numbers = [None if one is None else one * up for one in found.to_pylist()]
    if down == 1 and all(-_WIDE < (one or 0) < _WIDE for one in numbers):
        return pa.array(numbers, type=pa.int64())
    return pa.array([None if one is None else one / down for one in numbers], pa.float64())


def _crossed(keys: Sequence["pa.Array[Any]"], sizes: Sequence[int]) -> list["pa.Array[Any]"]:
    """Every combination, the last key fastest."""
    before, whole = 1, prod(sizes)
    crossed = []
    for key, size in zip(keys, sizes, strict=True):
        after = whole // (before * size) if size else 0
        place = np.tile(np.repeat(np.arange(size), after), before)
        crossed.append(key.take(pa.array(place)))
        before *= size
    return crossed


def _with_null(column: "pa.Array[Any]") -> "pa.Array[Any]":
    return pa.concat_arrays([column, pa.nulls(1, column.type)])


def _scattered(
    values: Integers,
    place: NDArray[np.int64],
    known: NDArray[np.bool_],
    count: int,
    other: bool,
) -> Integers:
    """Values at the places of their groups, zero elsewhere."""
    spread = np.zeros(count, dtype=values.dtype)
    spread[place[known]] = values[known]
    return _with_rest(spread, values[~known], other)


def _with_rest(values: Integers, rest: Integers, other: bool) -> Integers:
    """One more value, what is in no group; sums of any size are kept exactly."""
    if not other:
        return values
    total = sum(rest.tolist())
    if values.dtype == object or abs(total) >= 2**62:
        return np.append(values.astype(object), np.array([total], dtype=object))
    return np.append(values, np.int64(total))
