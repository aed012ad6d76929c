"""Finds the sums of squares over units that a question measured beside a ratio of two sums.

A ratio SUM(Y) / SUM(N) has its squares if SUM(Y * Y), SUM(Y * N) and SUM(N * N) are in the same
release, over rows that are whole units. FOR POPULATION asks for them. They are found by what
the plan says that each output is about.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.infer.groups.group_means import UnitMoments
from deniable.query.margins.linear_forms import LinearForm, RatioForm, form
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.query.plan.plan import Feature, Output, Plan, walk
from deniable.release.answer.answer_table import column_names
from deniable.release.session.release import Release

Floats: TypeAlias = NDArray[np.float64]

_SUM_OF_UNITS = re.compile(r"SUM\(\(AVG\((.*)\) \* COUNT\(\1\)\)\)")
_COUNT_OF_UNITS = re.compile(r"SUM\((COUNT\(.*\))\)")


@dataclass(frozen=True, slots=True)
class UnitSquares:
    """A ratio's two sums, by the names of their columns, and the squares over units."""

    above: str
    below: str
    moments: UnitMoments
    most: float  # the most that one unit adds to the sum below
    limits: tuple[float, float]  # public limits of the ratio; infinite if nothing is declared
    what: str  # what it is, such as "AVG(x)"
    mean: bool  # over rows; otherwise the sum below is not their number


def numbers(release: Release, column: str) -> Floats:
    """A column of noisy numbers; NaN for NULL."""
    cells = release.answer.table[column].to_pylist()
    return np.array([math.nan if n is None else float(n) for n in cells])


def linear_outputs(plan: Plan) -> dict[str, tuple[str, LinearForm, Output]]:
    """The outputs that are linear in noisy integers, by what they are about."""
    outputs = {}
    for names, output in zip(column_names(plan), plan.outputs, strict=True):
        shape = form(output.node) if names[1] is not None else None
        if isinstance(shape, LinearForm):
            outputs[output.about] = names[0], shape, output
    return outputs


def read_squares(release: Release, shape: RatioForm) -> UnitSquares | None:
    """The squares beside a ratio; None if they were not measured, or not over whole units."""
    plan = release.plan
    if plan.max_rows_per_unit_per_group > 1:
        return None
    outputs = linear_outputs(plan)
    above, below = (
        next((about for about, (_, own, _) in outputs.items() if own == part), None)
        for part in (shape.above, shape.below)
    )
    if above is None or below is None:
        return None
    y, n = (about.removeprefix("SUM(").removesuffix(")") for about in (above, below))
    square_names = [f"SUM(({y} * {y}))", f"SUM(({y} * {n}))", f"SUM(({n} * {n}))"]
    if not all(about in outputs for about in square_names):
        return None
    low, high = reach_of(plan, outputs[above])
    most = reach_of(plan, outputs[below])[1]
    inner = n.removeprefix("COUNT(").removesuffix(")")
    mean = y == f"(AVG({inner}) * {n})"
    return UnitSquares(
        outputs[above][0],
        outputs[below][0],
        read_moments(release, [outputs[about] for about in square_names]),
        most,
        (low / most, high / most) if mean else (-math.inf, math.inf),
        f"AVG({inner})" if mean else plain_name(f"({above} / {below})"),
        mean,
    )


def read_moments(
    release: Release, outputs: list[tuple[str, LinearForm, Output]]
) -> UnitMoments:
    """Three sums of squares, with the law of their noise."""
    plan = release.plan
    known = noise_of_features(plan.blocks, plan.thresholding)
    first, second, third = (numbers(release, name) for name, _, _ in outputs)
    noises = tuple(
        tuple((known[feature], float(weight)) for feature, weight in shape.weights)
        for _, shape, _ in outputs
    )
    return UnitMoments((first, second, third), noises)


def plain_name(about: str) -> str:
    """What a sum over units is the sum of, in terms of rows.

    >>> plain_name("SUM((AVG(cost) * COUNT(cost)))"), plain_name("SUM(COUNT(*))")
    ('SUM(cost)', 'COUNT(*)')
    >>> plain_name("(SUM((AVG(a) * COUNT(a))) / SUM((AVG(b) * COUNT(b))))")
    '(SUM(a) / SUM(b))'
    """
    if about.startswith("(") and about.endswith("))") and ") / SUM(" in about:
        above, below = about[1:-1].split(" / SUM(", 1)
        return f"({plain_name(above)} / {plain_name(f'SUM({below}')})"
    match = _SUM_OF_UNITS.fullmatch(about)
    if match is not None:
        return f"SUM({match[1]})"
    counted = _COUNT_OF_UNITS.fullmatch(about)
    return about if counted is None else counted[1]


def rows_of_unit(plan: Plan) -> int:
    """The most rows of one unit that count in a group, also if its rows are taken together."""
    counts = (
        count for about, count in linear_outputs(plan).items() if _COUNT_OF_UNITS.match(about)
    )
    most = max((reach_of(plan, count)[1] for count in counts), default=1.0)
    limit = plan.max_rows_per_unit_per_group
    limit = limit if plan.max_rows_per_unit is None else min(limit, plan.max_rows_per_unit)
    return max(limit, int(most) if math.isfinite(most) else 1)


def adds_up_rows(plan: Plan) -> bool:
    """Whether it has sums over units, but no count that says of how many rows of each."""
    sums = map(_SUM_OF_UNITS.fullmatch, linear_outputs(plan))
    return rows_of_unit(plan) == 1 and any(sums)


def units_in(release: Release, place: int, chance: Fraction) -> float | None:
    """The fewest units of a group, if each is one row here and they were counted."""
    plan = release.plan
    known = linear_outputs(plan).get("COUNT(*)")
    if known is None or plan.max_rows_per_unit_per_group > 1 or plan.unit is None:
        return None
    name, shape, _ = known
    noises = noise_of_features(plan.blocks, plan.thresholding)
    margin = fixed_margin(dict(shape.weights), noises, 1 - 2 * chance)
    return max(float(numbers(release, name)[place]) - margin, 0.0)


def reach_of(plan: Plan, linear_output: tuple[str, LinearForm, Output]) -> tuple[float, float]:
    """What one unit adds to a sum of integers: at least, and at most."""
    _, shape, output = linear_output
    blocks = {node.name: node.block for node in walk(output.node) if isinstance(node, Feature)}
    weights: dict[int, list[float]] = {}
    for name, weight in shape.weights:
        weights.setdefault(blocks.get(name, -1), []).append(float(weight))
    low = high = 0.0
    for block, own in weights.items():
        reach = plan.blocks[block].reach if block >= 0 else None
        if reach is None:
            return -math.inf, math.inf
        if reach.size == 1:
            ends = sorted((reach.low * own[0], reach.high * own[0]))
        else:  # amounts that are not negative, with this sum at most
            ends = [reach.total * min(*own, 0.0), reach.total * max(*own, 0.0)]
        low, high = low + ends[0], high + ends[1]
    return low, high
