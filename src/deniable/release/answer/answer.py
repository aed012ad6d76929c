"""From exact integers to the table that is released: noise first, then arithmetic.

The noise is drawn here, once for each integer of each group in the answer, by the mechanisms
whose loss the plan states. The steps after it (outputs, HAVING, ORDER BY, LIMIT, margins) see
noisy values only: they are post-processing and cost nothing.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deniable.engines.handover.exact_groups import ExactGroups, Integers
from deniable.mechanisms import Gaussian, Laplace, PermuteAndFlip
from deniable.query.margins.chosen_rows import chooses_rows, confidence_for_each
from deniable.query.margins.evaluation import Values, evaluate
from deniable.query.margins.linear_forms import LinearForm, form
from deniable.query.margins.margins import (
    half_widths,
    limits,
    noise_of_features,
    shown_values,
)
from deniable.query.margins.released_texts import is_missing
from deniable.query.plan.node_kinds import released_kind
from deniable.query.plan.plan import (
    Chosen,
    KeyColumn,
    Node,
    Output,
    Plan,
    Told,
    walk,
)
from deniable.release.answer.answer_table import (
    Answer,
    column_names,
    end_columns,
    margin_columns,
)
from deniable.release.answer.choices import DrawnChoices, draw_choices
from deniable.release.answer.distances import draw_distances
from deniable.release.answer.drawn_noise import DrawnNoise, add_drawn, concatenated
from deniable.release.answer.groups import Groups, form_groups

SLICE_LENGTH = 1 << 15  # groups
_MOST_THREADS = 4
_FEWEST_SLICES = 8  # with fewer slices, starting threads is not worth it


def run_in_slices(count: int, work: Callable[[slice], None]) -> None:
    """Calls `work` with slices that make up range(count), in no particular order.

    >>> seen = []
    >>> run_in_slices(3, seen.append)
    >>> seen
    [slice(0, 3, None)]
    """
    slices = [slice(at, min(at + SLICE_LENGTH, count)) for at in range(0, count, SLICE_LENGTH)]
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    if threads < 2 or len(slices) < _FEWEST_SLICES:
        for part in slices:
            work(part)
        return
    with ThreadPoolExecutor(threads, "deniable") as pool:
        for future in [pool.submit(work, part) for part in slices]:
            future.result()


# A number, its margin, and the low and the high end of its interval.
NumberColumns: TypeAlias = tuple["pa.Array[Any]", ...]
_WHOLE_BELOW = 2.0**53  # from here on, a double cannot represent every whole number


def draw_answer(
    plan: Plan, exact: ExactGroups | Iterator[ExactGroups], noise: DrawnNoise | None = None
) -> Answer:
    """The noisy answer to a plan, from the engine's integers: all at once, or in batches. What
    `noise` has was drawn before; the rest is drawn now."""
    if plan.distances is not None:
        return _tell_distances(plan, exact)
    groups = form_groups(plan, exact)
    chosen = draw_choices(plan, groups)
    noisy = _add_noise(plan, groups, noise) | chosen.values
    used = _used_keys(plan)
    keys = tuple(
        _key_values(column) if place in used else np.empty(0)
        for place, column in enumerate(groups.keys)
    )
    columns: dict[str, pa.Array[Any]] = {}
    for output, (name, margin_name, ends) in zip(plan.outputs, column_names(plan), strict=True):
        if isinstance(output.node, KeyColumn):
            columns[name] = groups.keys[output.node.place]
            continue
        if output.kind != "number":
            values = np.broadcast_to(evaluate(output.node, noisy, keys), (groups.count,))
            columns[name] = _to_column(values, output.kind)
            continue
        if isinstance(output.node, Chosen):
            arrays = _choice_columns(plan, output, chosen, groups.count)
        else:
            arrays = _number_columns(plan, output, noisy, keys, groups.count)
        columns |= _name_columns(arrays, (name, margin_name, *(ends or (None, None))))
    table = pa.table(columns)
    if plan.having is not None or plan.order or plan.limit is not None:
        table = table.take(pa.array(_select_groups(plan, noisy, keys, groups.count)))
    return Answer(table, margin_columns(plan), end_columns(plan))


def _name_columns(
    arrays: NumberColumns, names: tuple[str | None, ...]
) -> dict[str, "pa.Array[Any]"]:
    """The columns of one number, without those that have no name."""
    return {name: array for name, array in zip(names, arrays, strict=False) if name is not None}


def _tell_distances(plan: Plan, exact: ExactGroups | Iterator[ExactGroups]) -> Answer:
    """The answer of a plan that measures distances, or chooses by them: one row."""
    whole = exact if isinstance(exact, ExactGroups) else ExactGroups.join(exact)
    assert whole.joint is not None
    told = draw_distances(plan, whole.joint)
    names = [
        (name, output.node)
        for output, (name, *_) in zip(plan.outputs, column_names(plan), strict=True)
    ]
    columns = {
        name: pa.array([told[node.name]], type=pa.int64())
        for name, node in names
        if isinstance(node, Told)
    }
    return Answer(pa.table(columns), margin_columns(plan), end_columns(plan))


def _add_noise(
    plan: Plan, groups: Groups, noise: DrawnNoise | None = None
) -> dict[str, Values]:
    """The features with their noise.

    Each block is one release of all its integers. The noise of an integer does not depend on
    the number of the others.
    """
    noisy: dict[str, Values] = {}
    if groups.units is not None:
        noisy["units"] = groups.units
    for block in plan.blocks:
        exact = [groups.features.pop(name) for name in block.features]
        released = [np.empty(groups.count) for _ in exact]
        drawn = None if noise is None else noise.take(block, groups.count)

        def add_noise(
            part: slice,
            mechanism: Laplace | Gaussian = block.mechanism,
            exact: list[Integers] = exact,
            drawn: NDArray[Any] | None = drawn,
            released: list[Values] = released,
        ) -> None:
            own = None if drawn is None else concatenated(drawn, part)
            noised = add_drawn(mechanism, concatenated(exact, part), own)
            for target, values in zip(released, np.split(noised, len(exact)), strict=True):
                target[part] = values

        run_in_slices(groups.count, add_noise)
        noisy |= dict(zip(block.features, released, strict=True))
    return noisy


def _number_columns(
    plan: Plan, output: Output, noisy: Mapping[str, Values], keys: Sequence[Values], count: int
) -> NumberColumns:
    bounds = {"low": output.low, "high": output.high}
    noises = noise_of_features(plan.blocks, plan.thresholding)
    confidence = plan.confidence
    if chooses_rows(plan.having, plan.order, plan.limit):
        confidence = confidence_for_each(confidence, count)
    value, lower, upper = (np.empty(count) for _ in range(3))

    def compute(part: slice) -> None:
        features = {name: values[part] for name, values in noisy.items()}
        key_values = [column[part] for column in keys]
        value[part] = shown_values(output.node, features, keys=key_values, **bounds)
        lower[part], upper[part] = limits(
            output.node,
            noises,
            features,
            confidence=confidence,
            keys=key_values,
            selected=plan.thresholding is not None,
            **bounds,
        )

    run_in_slices(count, compute)
    linear = form(output.node)
    whole = isinstance(linear, LinearForm) and linear.whole
    if output.count and not whole:
        # A count is shown as a whole number. If units are scaled down to their contribution
        # bounds, the true value may not be whole, so the margin is rounded up.
        half = np.ceil(half_widths(value, lower, upper))
        np.round(value, out=value)
        lower, upper = value - half, value + half
        whole = True
    return _finish_columns(value, lower, upper, whole, cut=output.count and plan.nonnegative)


def _finish_columns(
    value: Values, lower: Values, upper: Values, whole: bool, *, cut: bool
) -> NumberColumns:
    """The columns of a number with an interval. The interval contains the number; NULL stands
    for an end that is not known. If `cut`, numbers below 0 become 0, with the same margins."""
    lower = np.where(np.isnan(lower), -np.inf, np.minimum(lower, value))
    upper = np.where(np.isnan(upper), np.inf, np.maximum(upper, value))
    half = half_widths(value, lower, upper)
    if cut and (value < 0).any():
        below = value < 0
        value = np.maximum(value, 0)
        lower, upper = np.where(below, -half, lower), np.where(below, half, upper)
    known, has_margin = ~np.isnan(value), np.isfinite(half)
    # The plan fixes the margin, so the column has the same type for all draws of the noise.
    whole = whole and bool((half[has_margin] < _WHOLE_BELOW).all())
    ends = [_to_array(end, known & np.isfinite(end), whole) for end in (lower, upper)]
    return _to_array(value, known, whole), _to_array(half, known & has_margin, whole), *ends


def _choice_columns(
    plan: Plan, output: Output, chosen: DrawnChoices, count: int
) -> NumberColumns:
    """A quantile or a most frequent value, its margin in the unit that the plan states, and its
    interval in the column's own unit, as far as it is known."""
    assert isinstance(output.node, Chosen)
    choice, name = plan.choices[output.node.choice], output.node.name
    value = chosen.values[name]
    stated = pa.array([choice.margin] * count, type=pa.int64())
    if isinstance(choice.mechanism, PermuteAndFlip):
        kind = pa.array(list(choice.labels or ())).type
        return pa.array(value.tolist(), type=kind), stated
    grid = choice.mechanism.grid
    farthest = max(abs(grid.value(0)), abs(grid.value(grid.size - 1)))
    whole = grid.lowest.denominator == grid.step.denominator == 1
    whole = whole and farthest < _WHOLE_BELOW
    lower, upper = chosen.ends.get(name, (np.full(count, -np.inf), np.full(count, np.inf)))
    shown, margin, *ends = _finish_columns(value, lower, upper, whole, cut=False)
    return shown, stated if output.margin_in else margin, *ends


def _to_array(values: NDArray[np.float64], known: NDArray[Any], whole: bool) -> "pa.Array[Any]":
    complete = bool(known.all())
    filled = values if complete else np.where(known, values, 0.0)
    whole = whole and (not filled.size or bool(max(filled.max(), -filled.min()) < 2.0**63))
    exact = filled.astype(np.int64) if whole else filled + 0.0  # no negative zero
    return pa.array(exact, mask=None if complete else ~known)


def _select_groups(
    plan: Plan, noisy: Mapping[str, Values], keys: Sequence[Values], count: int
) -> NDArray[np.int64]:
    """The places of the groups that HAVING keeps, sorted by ORDER BY, up to LIMIT."""
    place = np.arange(count)
    if plan.having is not None:
        holds = np.broadcast_to(evaluate(plan.having, noisy, keys), (count,))
        place = place[holds == 1]  # not where it is NULL
    if plan.order and place.size:
        sorted_by = [
            np.broadcast_to(evaluate(node, noisy, keys), (count,)) for node, _ in plan.order
        ]
        names = [f"o{i}" for i in range(len(sorted_by))]
        kinds = [released_kind(plan, node) for node, _ in plan.order]
        table = pa.table(
            [
                _to_column(values[place], kind)
                for values, kind in zip(sorted_by, kinds, strict=True)
            ],
            names=names,
        )
        sort_keys = [
            (name, "descending" if down else "ascending")
            for name, (_, down) in zip(names, plan.order, strict=True)
        ]
        place = place[np.asarray(pc.sort_indices(table, sort_keys=sort_keys))]
    return place if plan.limit is None else place[: plan.limit]


_TYPES = {"text": pa.string(), "boolean": pa.bool_(), "date": pa.timestamp("us")}


def _to_column(values: Values, kind: str) -> "pa.Array[Any]":
    """Released values of one kind; what is not of that kind is NULL."""
    if kind == "number":
        return pa.array(np.asarray(values, dtype=np.float64), from_pandas=True)
    classes = {"text": str, "boolean": float, "date": datetime}
    own = [value if isinstance(value, classes[kind]) else None for value in values.tolist()]
    if kind == "boolean":
        own = [None if is_missing(value) else value == 1 for value in own]
    return pa.array(own, type=_TYPES[kind])


def _key_values(column: "pa.Array[Any]") -> Values:
    """A column of keys for arithmetic: numbers as floats, with NaN for NULL."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        floats = column.cast(pa.float64(), safe=False)  # far from zero, the nearest double
        return np.asarray(floats.fill_null(float("nan")))
    if pa.types.is_boolean(column.type):
        return np.asarray(column.cast(pa.float64()).fill_null(float("nan")))
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"))
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values


def _used_keys(plan: Plan) -> set[int]:
    """The places of the keys that are used in arithmetic, not only shown."""
    nodes: list[Node] = [
        output.node for output in plan.outputs if not isinstance(output.node, KeyColumn)
    ]
    nodes += [node for node, _ in plan.order]
    nodes += [] if plan.having is None else [plan.having]
    inner = (inner for node in nodes for inner in walk(node))
    return {node.place for node in inner if isinstance(node, KeyColumn)}
