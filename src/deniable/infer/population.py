"""What a release says about the population that its rows were drawn from.

Means and shares are those of the population's clipped values, of rows as the plan limits them.
Without a sampling fraction the rows count as independent draws, and counts of the population
are refused: how large it is was not said. With the fraction of a simple random sample (or one
for each stratum, if the groups are the strata) errors are smaller by the finite-population
correction, and counts are projected. No privacy is claimed from the sampling.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import pyarrow as pa

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level, rational
from deniable.infer.comparisons import variance_notes
from deniable.infer.group_means import GroupMeans, Key, find_group
from deniable.infer.inferred import POPULATION, Ends, Inferred
from deniable.infer.mean_intervals import noise_ends, population_ends, sampling_ends
from deniable.infer.readings import GroupAmounts, mean_columns, read, refuse_several_rows
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.release.session.release import Release

Fractions = Number | Mapping[Key, Number] | None

_SAMPLE = "the population, of which the rows are a simple random sample"


@dataclass(frozen=True, slots=True)
class Population:
    """Inferred numbers, one for each group and column."""

    results: tuple[tuple[Key, Inferred], ...]

    def __getitem__(self, group: Key) -> Inferred:
        """What was inferred for a group, if there is one number for each."""
        return self.results[find_group(tuple(key for key, _ in self.results), group)][1]

    def __iter__(self) -> Iterator[Inferred]:
        return (found for _, found in self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __str__(self) -> str:
        notes = dict.fromkeys(note for found in self for note in found.notes)
        targets = dict.fromkeys(f"Target: {found.target}." for found in self)
        lines = [str(replace(found, notes=())) for found in self]
        return "\n".join([*lines, *targets, *notes])

    __repr__ = __str__

    def to_arrow(self) -> "pa.Table":
        """A row for each number, with the ends of its intervals."""
        rows = [
            {
                "what": found.what,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "noise_low": found.noise[0],
                "noise_high": found.noise[1],
                "sampling_low": None if found.sampling is None else found.sampling[0],
                "sampling_high": None if found.sampling is None else found.sampling[1],
            }
            for found in self
        ]
        return pa.Table.from_pylist(rows)


def infer_population(
    release: Release,
    *,
    value: str | None,
    rows: str | None,
    fraction: Fractions,
    confidence: Number,
) -> Population:
    """Implements `Release.population`."""
    level = confidence_level(confidence)
    columns = [value] if value is not None else list(mean_columns(release))
    if not columns and fraction is not None:
        columns = list(release.answer.margins)
    if not columns:
        raise InvalidParameter(
            "Counts and sums of the population need the sampling fraction, such as "
            "fraction=0.1. Without it, ask about means or shares: AVG(x) with COUNT(x) beside "
            "it, or name a count and the count that it is a part of with `value` and `rows`."
        )
    results: list[tuple[Key, Inferred]] = []
    for column in columns:
        found = read(release, column, rows)
        if isinstance(found, GroupMeans):
            results += _infer_means(found, fraction, level)
        else:
            refuse_several_rows(release.plan)
            results += _infer_counts(found, fraction, level)
    return Population(tuple(results))


def _infer_means(
    found: GroupMeans, fraction: Fractions, level: Fraction
) -> list[tuple[Key, Inferred]]:
    results = []
    for place, group in enumerate(found.groups):
        share = _fraction_of(fraction, group)
        part = replace(found.at(place), sampled=0.0 if share is None else share)
        whole, noise, sampling = (
            (float(low[0]), float(high[0]))
            for low, high in (
                ends(part, level) for ends in (population_ends, noise_ends, sampling_ends)
            )
        )
        inferred = Inferred(
            f"{found.what}{_of(group)}",
            float(part.values[0]),
            whole,
            noise,
            sampling,
            float(level),
            POPULATION if share is None else _SAMPLE,
            notes=variance_notes(found),
        )
        results.append((group, inferred))
    return results


def _infer_counts(
    found: GroupAmounts, fraction: Fractions, level: Fraction
) -> list[tuple[Key, Inferred]]:
    if not found.count:
        raise InvalidParameter(
            f"The population's {found.what} cannot be inferred: how much it varies between "
            "rows is not released. Ask for AVG and COUNT instead."
        )
    results = []
    for place, group in enumerate(found.groups):
        share = _fraction_of(fraction, group)
        if share is None:
            raise InvalidParameter(
                "Counts of the population need the sampling fraction, such as fraction=0.1."
            )
        noise = fixed_margin(dict(found.weights), dict(found.noises), level)
        count = float(found.values[place])
        inferred = Inferred(
            f"{found.what}{_of(group)} of the population",
            count / share,
            projected_ends(count, noise, share, level),
            (max(count - noise, 0.0) / share, (count + noise) / share),
            projected_ends(count, 0.0, share, level),
            float(level),
            _SAMPLE,
        )
        results.append((group, inferred))
    return results


def projected_ends(count: float, noise: float, share: float, level: Fraction) -> Ends:
    """All K for which |count - share K| is within hypot(noise, z sqrt(K share (1 - share))).

    The number of sampled rows of K is binomial or varies less. Half a row is added.

    >>> low, high = projected_ends(100, 0.0, 0.1, Fraction(19, 20))
    >>> round(low), round(high)
    (826, 1209)
    """
    z = NormalDist().inv_cdf(float(1 + level) / 2)
    spread = z * z * (1 - share)
    ends = []
    for sign in (-1.0, 1.0):
        at = max(count + sign * 0.5, 0.0)
        # With m = share K: (at - m)**2 = noise**2 + spread m.
        middle = at + spread / 2
        ends.append(max(middle + sign * math.sqrt(spread * (at + spread / 4) + noise**2), 0.0))
    return ends[0] / share, ends[1] / share


def _fraction_of(fraction: Fractions, group: Key) -> float | None:
    if fraction is None:
        return None
    if isinstance(fraction, Mapping):
        keys = tuple(fraction)
        number: Any = fraction[keys[find_group(keys, group)]]
    else:
        number = fraction
    share = float(rational(number, "fraction"))
    if not 0 < share <= 1:
        raise InvalidParameter(f"`fraction` must be above 0 and at most 1. Found {number}.")
    return share


def _of(group: Key) -> str:
    if group == ():
        return ""
    return f" of {', '.join(map(str, group)) if isinstance(group, tuple) else group}"
