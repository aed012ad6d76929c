"""From exact integers to the table that is released: noise first, then arithmetic.

The noise is drawn here, once for each integer of each group in the answer, by the mechanisms
whose loss the plan states. The steps after it (outputs, HAVING, ORDER BY, LIMIT, margins) see
noisy values only: they are post-processing and cost nothing.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deniable.engines.handover.exact_groups import ExactGroups, Integers
from deniable.mechanisms import Gaussian, Laplace, Quantiles
from deniable.query.margins.chosen_rows import chooses_rows, confidence_for_each
from deniable.query.margins.evaluation import Values, evaluate
from deniable.query.margins.linear_forms import LinearForm, form
from deniable.query.margins.margins import margins, noise_of_features, shown_values
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
from deniable.release.answer.answer_table import Answer, column_names, margin_columns
from deniable.release.answer.choices import DrawnChoices, draw_choices
from deniable.release.answer.distances import draw_distances
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


_WHOLE_BELOW = 2.0**53  # from here on, a double cannot represent every whole number


def draw_answer(plan: Plan, exact: ExactGroups | Iterator[ExactGroups]) -> Answer:
    """The noisy answer to a plan, from the engine's integers: all at once, or in batches."""
    if plan.distances is not None:
        return _tell_distances(plan, exact)
    groups = form_groups(plan, exact)
    chosen = draw_choices(plan, groups)
    noisy = _add_noise(plan, groups) | chosen.values
    used = _used_keys(plan)
    keys = tuple(
        _key_values(column) if place in used else np.empty(0)
        for place, column in enumerate(groups.keys)
    )
    columns: dict[str, pa.Array[Any]] = {}
    for output, (name, margin_name) in zip(plan.outputs, column_names(plan), strict=True):
        if isinstance(output.node, KeyColumn):
            columns[name] = groups.keys[output.node.place]
            continue
        if output.kind != "number":
            values = np.broadcast_to(evaluate(output.node, noisy, keys), (groups.count,))
            columns[name] = _to_column(values, output.kind)
            continue
        if isinstance(output.node, Chosen):
            columns[name], margin = _choice_columns(plan, output, chosen, groups.count)
        else:
            columns[name], margin = _number_columns(plan, output, noisy, keys, groups.count)
        if margin_name is not None:
            columns[margin_name] = margin
    table = pa.table(columns)
    if plan.having is not None or plan.order or plan.limit is not None:
        table = table.take(pa.array(_select_groups(plan, noisy, keys, groups.count)))
    return Answer(table, margin_columns(plan))


def _tell_distances(plan: Plan, exact: ExactGroups | Iterator[ExactGroups]) -> Answer:
    """The answer of a plan that measures distances, or chooses by them: one row."""
    whole = exact if isinstance(exact, ExactGroups) else ExactGroups.join(exact)
    assert whole.joint is not None
    told = draw_distances(plan, whole.joint)
    names = [
        (name, output.node)
        for output, (name, _) in zip(plan.outputs, column_names(plan), strict=True)
    ]
    columns = {
        name: pa.array([told[node.name]], type=pa.int64())
        for name, node in names
        if isinstance(node, Told)
    }
    return Answer(pa.table(columns), margin_columns(plan))


def _add_noise(plan: Plan, groups: Groups) -> dict[str, Values]:
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

        def add_noise(
            part: slice,
            mechanism: Laplace | Gaussian = block.mechanism,
            exact: list[Integers] = exact,
            released: list[Values] = released,
        ) -> None:
            noised = mechanism.release(np.concatenate([feature[part] for feature in exact]))
            for target, values in zip(released, np.split(noised, len(exact)), strict=True):
                target[part] = values

        run_in_slices(groups.count, add_noise)
        noisy |= dict(zip(block.features, released, strict=True))
    return noisy


def _number_columns(
    plan: Plan, output: Output, noisy: Mapping[str, Values], keys: Sequence[Values], count: int
) -> tuple["pa.Array[Any]", "pa.Array[Any]"]:
    limits = {"low": output.low, "high": output.high}
    noises = noise_of_features(plan.blocks, plan.thresholding)
    confidence = plan.confidence
    if chooses_rows(plan.having, plan.order, plan.limit):
        confidence = confidence_for_each(confidence, count)
    value, half = np.empty(count), np.empty(count)

    def compute(part: slice) -> None:
        features = {name: values[part] for name, values in noisy.items()}
        key_values = [column[part] for column in keys]
        value[part] = shown_values(output.node, features, keys=key_values, **limits)
        half[part] = margins(
            output.node,
            noises,
            features,
            confidence=confidence,
            keys=key_values,
            shown_as=value[part],
            selected=plan.thresholding is not None,
            **limits,
        )

    run_in_slices(count, compute)
    linear = form(output.node)
    whole = isinstance(linear, LinearForm) and linear.whole
    if output.count and not whole:
        # A count is shown as a whole number. If units are scaled down to their contribution
        # bounds, the true value may not be whole, so the margin is rounded up.
        np.round(value, out=value)
        np.ceil(half, out=half)
        whole = True
    if output.count and plan.nonnegative:
        np.maximum(value, 0, out=value)
    known, has_margin = ~np.isnan(value), np.isfinite(half)
    # The plan fixes the margin, so the column has the same type for all draws of the noise.
    whole = whole and bool((half[has_margin] < _WHOLE_BELOW).all())
    return _to_array(value, known, whole), _to_array(half, known & has_margin, whole)


def _choice_columns(
    plan: Plan, output: Output, chosen: DrawnChoices, count: int
) -> tuple["pa.Array[Any]", "pa.Array[Any]"]:
    """A quantile or a most frequent value, and its margin in the unit that the plan states."""
    assert isinstance(output.node, Chosen)
    choice, name = plan.choices[output.node.choice], output.node.name
    value = chosen.values[name]
    if output.margin_in:
        margin = pa.array([choice.margin] * count, type=pa.int64())
    else:
        margin = pa.array(chosen.margins[name])
    if isinstance(choice.mechanism, Quantiles):
        grid = choice.mechanism.grid
        farthest = max(abs(grid.value(0)), abs(grid.value(grid.size - 1)))
        whole = grid.lowest.denominator == grid.step.denominator == 1
        whole = whole and farthest < _WHOLE_BELOW
        return _to_array(value, np.ones(count, dtype=np.bool_), whole), margin
    kind = pa.array(list(choice.labels or ())).type
    return pa.array(value.tolist(), type=kind), margin


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
