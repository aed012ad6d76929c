"""Reads a release as means, shares or amounts of its groups, with the law of their noise.

Only released numbers and the plan are read. What would make an interval wrong is refused here:
groups that the noise chose, and several rows of one person that are taken for independent ones.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.infer.groups.group_means import (
    GroupMeans,
    Key,
    NoisePart,
    Variances,
    sum_quantile,
)
from deniable.infer.groups.local_shares import LocalShares, need_answer, read_local
from deniable.infer.groups.unit_squares import (
    UnitSquares,
    numbers,
    read_squares,
    rows_of_unit,
)
from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins.chosen_rows import chooses_rows
from deniable.query.margins.formula_parts import spread_inside
from deniable.query.margins.linear_forms import LinearForm, RatioForm, form
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.noise_quantiles import moments
from deniable.query.margins.variances import VarianceForm
from deniable.query.plan.plan import KeyColumn, Output, Plan
from deniable.release.answer.answer_table import column_names
from deniable.release.session.release import Release

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GroupAmounts:
    """A count or sum in each group, and the noise in it."""

    groups: tuple[Key, ...]
    values: Floats
    weights: Mapping[str, Fraction]
    noises: Mapping[str, Noise]
    what: str
    count: bool

    @property
    def variance(self) -> float:
        """The variance of the noise in each number."""
        parts = ((float(w), self.noises[name]) for name, w in self.weights.items())
        return math.fsum(w**2 * moments(noise)[0] for w, noise in parts)


def read(
    release: Release | Mapping[Key, Any], value: str | int | None, rows: str | None
) -> GroupMeans | GroupAmounts | LocalShares:
    """The column `value` of a release: a mean or share if its number of rows is released too.

    `rows` names the column that counts the rows that the mean is over; then `value` may be a
    count of some of them. A mapping holds the groups of a survey (`local_shares`).
    """
    if isinstance(release, Mapping):
        return need_answer(read_local(release, value))
    if not isinstance(release, Release):
        raise InvalidParameter(f"This needs a Release; got {type(release).__name__}.")
    if isinstance(value, int):
        raise InvalidParameter(f"`value` names a column of the release. Found {value}.")
    refuse_chosen_groups(release.plan)
    column = value if value is not None else _only_value(release, rows)
    shape = form_of(release, column)
    if isinstance(shape, RatioForm):
        squares = None if rows is not None else read_squares(release, shape)
        if squares is not None:
            return _read_ratio(release, shape, squares)
        counted = rows if rows is not None else _count_below(release, column, shape.below)
        means = _read_means(release, column, shape, counted)
    elif rows is not None:
        below = _linear(release, rows)
        means = _read_means(release, column, RatioForm(shape, below), rows)
    else:
        return _read_amounts(release, column, shape)
    return means


def refuse_several_rows(plan: Plan) -> None:
    """Refuses several rows of a person, where a test needs independent rows."""
    most = plan.max_groups_per_unit * plan.max_rows_per_unit_per_group
    if plan.max_rows_per_unit is not None:
        most = min(most, plan.max_rows_per_unit)
    most = max(most, rows_of_unit(plan))  # its rows may be taken together in the statement
    if most > 1:
        raise InvalidParameter(
            f"One {plan.unit or 'unit'} may have {most} rows in this release, so its rows are "
            "no independent draws, and this test needs such. Limit it to one row "
            "(max_rows_per_unit_per_group=1, max_groups_per_unit=1), or compare means and "
            "shares with difference() or t_test(): they count each person once."
        )


def refuse_chosen_groups(plan: Plan) -> None:
    """Refuses groups that were chosen by their noisy numbers."""
    if chooses_rows(plan.having, plan.order, plan.limit):
        raise InvalidParameter(
            "HAVING or LIMIT chose the groups of this release by their noisy numbers, so what "
            "is shown is no fair sample of its noise. Ask without it, and choose afterwards."
        )


def refuse_noisy_order(plan: Plan) -> None:
    """Refuses groups that stand in the order of their noisy numbers, where the order counts."""
    if any(chooses_rows(node, (), None) for node, _ in plan.order):
        raise InvalidParameter(
            "ORDER BY put the groups of this release into the order of their noisy numbers. "
            "This test reads them in order, and would find what the sorting did. Order by a "
            "key, or not at all."
        )


def _only_value(release: Release, rows: str | None) -> str:
    """The one column that can be meant: a mean before a count."""
    names = [name for name in release.answer.margins if name != rows]
    means = [name for name in mean_columns(release) if name != rows]
    for candidates in (means, names):
        if len(candidates) == 1:
            return candidates[0]
    raise InvalidParameter(
        f"Say which column is meant, for example value={(means or names or ['n'])[0]!r}. The "
        f"release has {', '.join(names) or 'no number'}."
    )


def _output(release: Release, column: str) -> Output:
    for names, output in zip(column_names(release.plan), release.plan.outputs, strict=True):
        if names[0] == column and names[1] is not None:  # it has a margin
            return output
    known = ", ".join(release.answer.margins)
    raise InvalidParameter(f"The release has no noisy number {column!r}. It has {known}.")


def form_of(release: Release, column: str) -> LinearForm | RatioForm:
    """How a number follows from noisy integers. Refuses what is neither a sum nor a ratio."""
    shape = form(_output(release, column).node)
    if shape is None:
        raise InvalidParameter(
            f"{column} is neither a count, a sum, a mean nor a share: the law of its noise is "
            "not known here. Ask for COUNT, SUM, AVG or a share."
        )
    parts = (shape.above, shape.below) if isinstance(shape, RatioForm) else (shape,)
    if release.plan.thresholding is not None and any("units" in dict(p.weights) for p in parts):
        raise InvalidParameter(
            f"The noise of {column} also decided which groups are shown, so among the shown "
            "ones it is too high on average. Use COUNT(*), whose noise is its own."
        )
    return shape


def _linear(release: Release, column: str) -> LinearForm:
    shape = form_of(release, column)
    if not isinstance(shape, LinearForm) or not _output(release, column).count:
        raise InvalidParameter(f"rows={column!r} must be a count, such as COUNT(*) AS n.")
    return shape


def _count_below(release: Release, column: str, below: LinearForm) -> str:
    """The released count that a mean was divided by."""
    for name in release.answer.margins:
        output = _output(release, name)
        if output.count and form(output.node) == below:
            return name
    inner = _output(release, column).about.removeprefix("AVG(").removesuffix(")")
    raise InvalidParameter(
        f"How many rows {column} is the mean of was not released, so its sampling error is not "
        f"known. Ask for COUNT({inner}) beside it: in one question it costs nothing more."
    )


def _read_means(release: Release, column: str, shape: RatioForm, rows: str) -> GroupMeans:
    below = _linear(release, rows)
    output = _output(release, column)
    counted = numbers(release, rows)
    ratio = isinstance(form(output.node), RatioForm)
    averages = numbers(release, column)
    above = np.where(counted > 0, averages * counted, 0.0) if ratio else averages
    known = output.low is not None and output.high is not None
    if ratio and not known:
        raise InvalidParameter(
            f"{column} is a ratio without public limits, and how much it varies was not "
            "released. Put FOR POPULATION at the end of the question, which measures it; or "
            "ask for AVG(x) and COUNT(x)."
        )
    low, high = (float(output.low), float(output.high)) if ratio else (0.0, 1.0)  # type: ignore[arg-type]
    plan = release.plan
    return GroupMeans(
        groups_of(release),
        above,
        counted,
        noise_parts(plan, shape.above, below),
        output.about if ratio else f"{column} / {rows}",
        low,
        high,
        _variance(release, shape.above, below, averages, counted) if ratio else None,
        cluster=float(rows_per_unit(plan)),
        shared=plan.max_groups_per_unit > 1,
    )


def _read_ratio(release: Release, shape: RatioForm, squares: UnitSquares) -> GroupMeans:
    """A ratio of two sums over units whose squares were measured too."""
    return GroupMeans(
        groups_of(release),
        numbers(release, squares.above),
        numbers(release, squares.below),
        noise_parts(release.plan, shape.above, shape.below),
        squares.what,
        *squares.limits,
        cluster=squares.most,
        moments=squares.moments,
        shared=release.plan.max_groups_per_unit > 1,
        weighed=not squares.mean,
    )


def noise_parts(plan: Plan, above: LinearForm, below: LinearForm) -> tuple[NoisePart, ...]:
    """The noisy integers of a ratio, each with its weights in both sums."""
    noises = noise_of_features(plan.blocks, plan.thresholding)
    over, under = dict(above.weights), dict(below.weights)
    none = Fraction(0)
    names = sorted({*over, *under})
    return tuple(NoisePart(noises[n], over.get(n, none), under.get(n, none)) for n in names)


def noise_of_mean(plan: Plan, column: str, mean: float) -> float:
    """The variance of the noise in a mean near `mean`, if it is over one row."""
    outputs = zip(column_names(plan), plan.outputs, strict=True)
    shape = form(next(output.node for names, output in outputs if names[0] == column))
    assert isinstance(shape, RatioForm)
    parts = noise_parts(plan, shape.above, shape.below)
    weights = (float(part.above) - mean * float(part.below) for part in parts)
    return math.fsum(w**2 * moments(p.noise)[0] for w, p in zip(weights, parts, strict=True))


def rows_per_unit(plan: Plan) -> int:
    """The most rows of one unit in one group."""
    most = plan.max_rows_per_unit_per_group
    return most if plan.max_rows_per_unit is None else min(most, plan.max_rows_per_unit)


def _read_amounts(release: Release, column: str, shape: LinearForm) -> GroupAmounts:
    noises = noise_of_features(release.plan.blocks, release.plan.thresholding)
    output = _output(release, column)
    values = numbers(release, column)
    weights = dict(shape.weights)
    return GroupAmounts(
        groups_of(release), values, weights, noises, output.about, count=output.count
    )


def _variance(
    release: Release, above: LinearForm, below: LinearForm, means: Floats, counted: Floats
) -> Variances | None:
    for name, margin in release.answer.margins.items():
        spread, rooted = spread_inside(_output(release, name).node)
        if spread is not None and spread.count == below:
            estimates, half = numbers(release, name), numbers(release, margin)
            uncut = _uncut_margin(release.plan, spread, above, means, counted)
            return Variances(estimates, half, release.plan.confidence, rooted, uncut)
    return None


def _uncut_margin(
    plan: Plan, spread: VarianceForm, above: LinearForm, means: Floats, counted: Floats
) -> Floats:
    """How far the noise may move a variance near 0: that of the squares around the mean.

    The variance is in steps of the grid, and so is its mean: a sum of the released one and 1,
    with the weights by which its features are those of the released sum and number of rows.
    """
    noises = noise_of_features(plan.blocks, plan.thresholding)
    forms = (spread.squares, spread.values, spread.count, above)
    names = sorted({name for part in forms for name, _ in part.weights})
    weights = np.array([[float(dict(f.weights).get(n, 0)) for f in forms] for n in names])
    factors = np.linalg.lstsq(weights[:, [3, 2]], weights[:, 1], rcond=None)[0]
    rows = counted + float(spread.below.constant - spread.count.constant)
    known = np.allclose(weights[:, [3, 2]] @ factors, weights[:, 1]) & (rows > 0)
    middle = factors[0] * means + factors[1]
    coefficients = np.stack([np.ones_like(middle), -2 * middle, middle**2])
    spreads = np.array([moments(noises[name]) for name in names])
    half = sum_quantile(spreads, weights[:, :3] @ coefficients, plan.confidence)
    return np.where(known, float(spread.scale) * half / np.maximum(rows, 1e-9), np.inf)


def groups_of(release: Release) -> tuple[Key, ...]:
    """The keys of each row; of one key the value itself, of several a tuple."""
    columns = [release.answer.table[name].to_pylist() for name in group_columns(release)]
    if len(columns) == 1:
        return tuple(columns[0])
    return tuple(zip(*columns, strict=True)) if columns else ((),) * len(release)


def mean_columns(release: Release) -> tuple[str, ...]:
    """The columns that are means or shares."""
    names = release.answer.margins
    return tuple(n for n in names if isinstance(form(_output(release, n).node), RatioForm))


def group_columns(release: Release) -> tuple[str, ...]:
    """The names of the columns that hold keys."""
    pairs = zip(column_names(release.plan), release.plan.outputs, strict=True)
    return tuple(names[0] for names, output in pairs if isinstance(output.node, KeyColumn))
