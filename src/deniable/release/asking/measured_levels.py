"""Levels of ROLLUP and the like that are measured one by one, and made to fit together.

Every level counts the rows that the finest groups keep. Whether the levels are measured apart,
or added up from the finest groups, depends on public facts alone: the sizes of the lists of
keys and the variances of the noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.query.margins.level_estimates import (
    MOST_KEYS,
    Level,
    gain_of_levels,
    least_squares,
)
from deniable.query.margins.linear_forms import LinearForm, form
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.noise_quantiles import moments
from deniable.query.margins.redrawn import Redrawn
from deniable.query.outer.divide import DividedQuestion
from deniable.query.outer.noise_dependence import NoiseDependence
from deniable.query.plan.plan import KeyColumn, Plan
from deniable.release.answer.answer_table import column_names
from deniable.release.asking.outer_rows import key_array
from deniable.release.asking.released_part import Floats, ReleasedPart
from deniable.release.session.door import Door
from deniable.release.session.release import Release

_MOST_GROUPS = 100_000
_MOST_WRITTEN = 1_000  # keys that a level does not have are written into its statement


@dataclass(frozen=True, slots=True)
class MeasuredLevels:
    """The plans of all levels, by the names of their answers, instead of one for the finest
    groups."""

    finest: Plan  # it is not run: it says what its rows are
    levels: tuple[Level, ...]
    plans: Mapping[str, Plan]

    def describe(self, name: str) -> str:
        """What a level counts."""
        level = self.levels[list(self.plans).index(name)]
        keys = ", ".join(self.finest.keys[place].name for place in level)
        return f"the level ({keys}) of the finest groups" if keys else "all finest groups"


def plan_levels(
    session: Door,
    divided: DividedQuestion,
    plans: Mapping[str, Plan],
    options: Mapping[str, Any],
    within: str,
) -> dict[str, MeasuredLevels]:
    """Those finest groups whose levels have smaller margins if they are measured one by one."""
    measured = {}
    for name, levels in divided.levels.items():
        finest, priced = plans[name], options.get("epsilon") is not None
        if not priced or within or len(levels) < 2 or not _can_be_apart(finest, levels):
            continue
        share: dict[str, Any] = {
            **options,
            "epsilon": finest.epsilon / len(levels),
            "delta": finest.delta / len(levels),
        }
        coarser = {
            f"{name}_level_{i}": session.plan(divided.inner[name], **{**share, "level": level})
            for i, level in enumerate(levels)
        }
        if _gain(finest, levels, tuple(coarser.values())) > 1:
            measured[name] = MeasuredLevels(finest, levels, coarser)
    return measured


def _can_be_apart(finest: Plan, levels: tuple[Level, ...]) -> bool:
    """Whether the groups are declared, and few enough, and all outputs are counts and sums."""
    sizes = [len(key.values or ()) for key in finest.keys]
    dropped = max(sum(s for i, s in enumerate(sizes) if i not in level) for level in levels)
    declared = finest.thresholding is None and not finest.other and not finest.nonnegative
    few = len(sizes) <= MOST_KEYS and prod(sizes) <= _MOST_GROUPS and dropped <= _MOST_WRITTEN
    simple = not (finest.choices or any(block.sql for block in finest.blocks))
    linear = all(
        isinstance(output.node, KeyColumn) or isinstance(form(output.node), LinearForm)
        for output in finest.outputs
    )
    return declared and few and simple and linear


def _gain(finest: Plan, levels: tuple[Level, ...], apart: tuple[Plan, ...]) -> float:
    """How much narrower margins are, as the geometric mean over all levels and outputs."""
    sizes = [len(key.values or ()) for key in finest.keys]
    of_finest, of_levels = _variances(finest), [_variances(plan) for plan in apart]
    if any(own <= 0 for each in (of_finest, *of_levels) for own in each.values()):
        return 0.0  # there is hardly any noise
    gains = [
        gain_of_levels(sizes, levels, [own[name] for own in of_levels], of_finest[name])
        for name in of_finest
    ]
    return float(np.exp(np.mean(np.log(gains)))) if gains else 0.0


def _variances(plan: Plan) -> dict[str, float]:
    """The variance of each noisy output."""
    noises = noise_of_features(plan.blocks, plan.thresholding)
    variances = {}
    for output, own in zip(plan.outputs, column_names(plan), strict=True):
        shape = form(output.node)
        if not isinstance(output.node, KeyColumn) and isinstance(shape, LinearForm):
            weights = shape.weights
            variances[own.name] = sum(float(w) ** 2 * moments(noises[f])[0] for f, w in weights)
    return variances


class LevelPart(ReleasedPart):
    """The finest groups that fit the released levels best. SQL reads them under a name."""

    def __init__(
        self,
        name: str,
        measured: MeasuredLevels,
        releases: Mapping[str, Release],
        seeds: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.name, self.plan, self.levels = name, measured.finest, measured.levels
        keys = [key.values or () for key in self.plan.keys]
        self.sizes = [len(values) for values in keys]
        self.rows = prod(self.sizes)
        self.parts = [ReleasedPart(n, releases[n], seeds[n]) for n in measured.plans]
        self.seed = tuple(text for part in self.parts for text in part.seed)
        variances = [_variances(plan) for plan in measured.plans.values()]
        self.variances = {own: [each[own] for each in variances] for own in variances[0]}
        self.values = {
            own: self._fit(own, [part.values[own][np.newaxis] for part in self.parts])[0]
            for own in self.variances
        }
        self.margins = {own: np.full(self.rows, np.inf) for own in self.values}
        cells = list(product(*keys))
        self.columns = {}
        for output, (own, *_) in zip(self.plan.outputs, column_names(self.plan), strict=True):
            if isinstance(output.node, KeyColumn):
                place = output.node.place
                array: Any = key_array(self.plan.keys[place], [cell[place] for cell in cells])
            else:
                array = pa.array(self.values[own])
            self.columns[own] = pa.chunked_array([array])
        self.sources = self.redraw(1)

    def _fit(self, own: str, measured: list[Floats]) -> Floats:
        return least_squares(self.sizes, self.levels, self.variances[own], measured)

    def redraw(self, draws: int) -> dict[str, Redrawn]:
        """The errors of the finest groups: those of all levels, drawn again and fitted."""
        drawn = [part.redraw(draws) for part in self.parts]
        redrawn = {}
        for own in self.values:
            features = frozenset().union(*(each[own].features for each in drawn))
            errors = [each[own].errors for each in drawn]
            variances = [error for error in errors if error is not None]
            fitted = self._fit(own, variances) if len(variances) == len(errors) else None
            redrawn[own] = Redrawn(fitted is not None, features, fitted)
        return redrawn

    def dependences(self) -> dict[str, NoiseDependence]:
        """How each of its columns depends on noise. None has a margin of its own."""
        inherited = super().dependences()
        return {
            name: NoiseDependence(dependence.kind, dependence.sources)
            for name, dependence in inherited.items()
        }

    def _own_margin(self, name: str, confidence: Fraction | None) -> Floats:
        return self.margins[name]
