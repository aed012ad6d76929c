"""What a release says about the population that its rows were drawn from.

Means and shares are those of the population's clipped values, of rows as the plan limits them.
Without a known sample the rows or units count as independent draws, and counts and sums of the
population are refused: how large it is was not said. With the fraction of a simple random
sample (or one for each stratum, if the groups are the strata) errors are smaller by the
finite-population correction, and counts and sums are projected. With measured limits a mean is
one over all rows of a unit (`left_out_rows`). No privacy is claimed from the sampling.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import pyarrow as pa

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level
from deniable.infer.comparisons import variance_notes
from deniable.infer.groups.drawn_samples import Fractions, draw_of, sampled_part
from deniable.infer.groups.group_means import GroupMeans, Key, find_group
from deniable.infer.groups.mean_intervals import noise_ends, population_ends, sampling_ends
from deniable.infer.groups.readings import GroupAmounts, groups_of, mean_columns, read
from deniable.infer.inferred import Inferred
from deniable.infer.left_out_rows import UNKNOWN, check_limits, widen
from deniable.infer.quantile_ends import asked_columns, infer_quantile, quantile_levels
from deniable.infer.totals import infer_total, named
from deniable.release.limits.measured_limits import MeasuredLimits
from deniable.release.session.release import Release


@dataclass(frozen=True, slots=True)
class Population:
    """Inferred numbers, one for each group and column."""

    results: tuple[tuple[Key, Inferred], ...]

    def __getitem__(self, group: Key) -> Inferred:
        """What was inferred for a group, if there is one number for each."""
        return self.results[find_group(tuple(key for key, _ in self.results), group)][1]

    def __iter__(self) -> Iterator[Inferred]:
        return (inference for _, inference in self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __str__(self) -> str:
        notes = dict.fromkeys(note for inference in self for note in inference.notes)
        targets = dict.fromkeys(f"Target: {inference.target}." for inference in self)
        lines = [str(replace(inference, notes=())) for inference in self]
        return "\n".join([*lines, *targets, *notes])

    __repr__ = __str__

    def to_arrow(self) -> "pa.Table":
        """A row for each number, with the ends of its intervals."""
        rows = [
            {
                "what": inference.what,
                "value": inference.value,
                "low": inference.low,
                "high": inference.high,
                "noise_low": inference.noise[0],
                "noise_high": inference.noise[1],
                "sampling_low": None if inference.sampling is None else inference.sampling[0],
                "sampling_high": None if inference.sampling is None else inference.sampling[1],
            }
            for inference in self
        ]
        return pa.Table.from_pylist(rows)


def infer_population(
    release: Release,
    *,
    value: str | None,
    rows: str | None,
    fraction: Fractions,
    limits: MeasuredLimits | None,
    confidence: Number,
) -> Population:
    """Implements `Release.population`."""
    return Population(tuple(infer_each(release, value, rows, fraction, limits, confidence)))


def infer_each(
    release: Release,
    value: str | None = None,
    rows: str | None = None,
    fraction: Fractions = None,
    limits: MeasuredLimits | None = None,
    confidence: Number = 0.95,
) -> Iterator[tuple[Key, Inferred]]:
    """The numbers one after the other: each takes its time, and there may be many groups."""
    level = confidence_level(confidence)
    if limits is not None:
        check_limits(release, limits)
    known = fraction is not None or release.sample is not None
    columns = [value] if value is not None else _columns(release, known)
    if not columns:
        raise InvalidParameter(
            "Counts and sums of the population need the sampling fraction, such as "
            "fraction=0.1, or [tables.x.sample] in the policy. Without it, ask about means or "
            "shares: AVG(x) with COUNT(x) beside it, or name a count and the count that it is "
            "a part of with `value` and `rows`."
        )
    for column in columns:
        yield from _infer(release, column, rows, fraction, limits, level)


def _columns(release: Release, known: bool) -> list[str]:
    """Means, shares and quantiles; counts and sums if the size of the population is known.
    What FOR POPULATION added to a question is left out: its name has the other's before it."""
    columns = [*mean_columns(release), *quantile_levels(release.plan)]
    if known and (not columns or release.for_population):
        columns = list(release.answer.margins)
    return asked_columns(columns) if release.for_population else columns


def _refuse_limits(limits: MeasuredLimits | None, column: str) -> None:
    if limits is not None:
        raise InvalidParameter(
            f"`limits` widens means and shares, and {column} is neither. Name one with `value`."
        )


def _infer(
    release: Release,
    column: str,
    rows: str | None,
    fraction: Fractions,
    limits: MeasuredLimits | None,
    level: Fraction,
) -> Iterator[tuple[Key, Inferred]]:
    if column in quantile_levels(release.plan):
        _refuse_limits(limits, column)
        for place, group in enumerate(groups_of(release)):
            draw = draw_of(release, group, fraction)
            yield group, infer_quantile(release, column, place, group, draw, level)
        return
    reading = read(release, column, rows)
    for place, group in enumerate(reading.groups):
        draw = draw_of(release, group, fraction)
        if isinstance(reading, GroupMeans):
            part = sampled_part(release, reading, place, fraction, level)
            spared = level if limits is None else level + UNKNOWN * (1 - level)
            mean = _infer_mean(part, group, draw.target, spared)
            if limits is not None:
                mean = widen(mean, part, release, limits, level)
            yield group, mean
        elif isinstance(reading, GroupAmounts):
            _refuse_limits(limits, column)
            yield group, infer_total(release, reading, place, draw, level)


def _infer_mean(part: GroupMeans, group: Key, target: str, level: Fraction) -> Inferred:
    whole, noise, sampling = (
        (float(low[0]), float(high[0]))
        for low, high in (
            ends(part, level) for ends in (population_ends, noise_ends, sampling_ends)
        )
    )
    return Inferred(
        f"{part.what}{named(group)}",
        float(part.values[0]),
        whole,
        noise,
        sampling,
        float(level),
        target,
        notes=variance_notes(part),
    )
