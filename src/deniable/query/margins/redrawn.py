"""The noise of released numbers, drawn again.

A count or sum is a linear form of noisy integers, so its error has a distribution that is known
before anything is released. Here that noise is drawn again, for every group: integers that two
numbers share get the same noise in both. Other numbers (averages) have a margin; their error is
drawn from a normal distribution that has this margin. Draws are independent of the data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from deniable.exact.bits import SYSTEM, BitSource
from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.query.margins.chosen_rows import chooses_rows
from deniable.query.margins.linear_forms import LinearForm, features_of, form, has_chosen
from deniable.query.margins.margins import noise_of_features
from deniable.query.plan.plan import Output, Plan

Floats = NDArray[np.float64]
_UNIT_STEPS = 1 << 20  # a normal deviate in whole steps


@dataclass(frozen=True, slots=True)
class Redrawn:
    """How the error of a released column may be drawn again."""

    linear: bool  # whether its distribution is known exactly
    features: frozenset[str]  # the noisy integers behind it
    errors: Floats | None  # draws x groups; None: its error cannot be drawn


def redraw_errors(
    plan: Plan,
    names: Sequence[str],
    values: Mapping[str, Floats],
    margins: Mapping[str, Floats],
    draws: int,
    *,
    source: BitSource = SYSTEM,
) -> dict[str, Redrawn]:
    """The errors of an answer's noisy numbers, drawn again; `names` are those of its outputs.

    >>> from deniable.policy import Policy, Table
    >>> from deniable.query.planner.request import make_plan
    >>> policy = Policy([Table("t").with_schema({"x": "BIGINT"})], epsilon=1)
    >>> plan = make_plan("SELECT COUNT(*) AS n FROM t", policy, epsilon=1)
    >>> got, half = {"n": np.array([50.0])}, {"n": np.array([3.0])}
    >>> redraw_errors(plan, ["n"], got, half, 99)["n"].errors.shape
    (99, 1)
    """
    noises = noise_of_features(plan.blocks, plan.thresholding)
    drawn: dict[str, Floats] = {}
    by_name: dict[str, Redrawn] = {}
    for output, name in zip(plan.outputs, names, strict=True):
        if name not in margins:
            continue
        features = frozenset(features_of(output.node))
        shape, count = form(output.node), len(values[name])
        if not _is_free(plan, output, values[name], margins[name]):
            by_name[name] = Redrawn(False, features, None)
        elif isinstance(shape, LinearForm) and not has_chosen(output.node):
            errors = np.zeros((draws, count))
            for feature, weight in shape.weights:
                if feature not in drawn:
                    noise = noises[feature].draw(draws * count, source=source)
                    drawn[feature] = np.asarray(noise, dtype=np.float64).reshape(draws, count)
                errors += float(weight) * drawn[feature]
            if output.count and not shape.whole:
                errors = np.round(errors)  # a count is shown as a whole number
            by_name[name] = Redrawn(True, features, errors)
        else:
            by_name[name] = Redrawn(
                False, features, _normal(margins[name], plan, draws, source)
            )
    return by_name


def _is_free(plan: Plan, output: Output, values: Floats, margins: Floats) -> bool:
    """Whether a number's error does not depend on what is shown. A group is shown if its noisy
    number of units is above a threshold: far above it, that makes no difference."""
    if chooses_rows(plan.having, plan.order, plan.limit) or output.margin_in:
        return False
    if output.count and plan.nonnegative:
        return False
    if plan.thresholding is None or "units" not in features_of(output.node):
        return True
    return bool((values >= plan.thresholding.threshold + 2 * margins).all())


def _normal(margins: Floats, plan: Plan, draws: int, source: BitSource) -> Floats:
    """Draws from normal distributions with these margins; NaN where no margin is known."""
    steps = GaussianNoise(Fraction(_UNIT_STEPS**2)).draw(draws * len(margins), source=source)
    unit = np.asarray(steps, dtype=np.float64) / _UNIT_STEPS
    level = NormalDist().inv_cdf((1 + float(plan.confidence)) / 2)
    return unit.reshape(draws, len(margins)) * (margins / level)
