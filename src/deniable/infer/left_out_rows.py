"""Widens an interval to all rows of a unit, by what `session.limits` measured.

A plan limits how many rows of a unit count. With the released histograms of how many rows units
really have, the mean over all of them follows within limits: if a share s of the rows is left
out, it is (1 - s) times the mean of the counted rows plus s times a mean that may lie anywhere
between the public bounds. What is left out is a ratio of sums over units, whose noise and
sampling error are those of any other (`mean_intervals`).

The histograms are over all rows and groups. So of one group, or under a WHERE, no more rows are
left out than of all together: with O left-out rows and K counted rows for each row that there
is, the share is at most O / (O + K). Rows beyond the caps of the histograms were not measured.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from deniable.errors import InvalidParameter
from deniable.infer.groups.drawn_samples import key_columns
from deniable.infer.groups.group_means import GroupMeans, NoisePart
from deniable.infer.groups.mean_intervals import population_ends
from deniable.infer.groups.unit_squares import rows_of_unit
from deniable.infer.inferred import Inferred
from deniable.query.plan.plan import Plan
from deniable.query.plan.statement_text import tree_of
from deniable.query.plan.tables_read import tables_read
from deniable.release.limits.measured_limits import MeasuredLimits
from deniable.release.limits.unit_histograms import UnitHistogram
from deniable.release.session.release import Release

UNKNOWN = Fraction(1, 10)  # of 1 - confidence: for the share of rows that is left out


def check_limits(release: Release, limits: MeasuredLimits) -> None:
    """Refuses limits that say nothing about this release."""
    plan = release.plan
    if not isinstance(limits, MeasuredLimits):
        raise InvalidParameter("`limits` takes what session.limits(...) returned.")
    if [name.lower() for name in plan.tables] != [limits.table.lower()]:
        raise InvalidParameter(f"These limits were measured for {limits.table} alone.")
    if (plan.unit or "").lower() != limits.unit.lower():
        raise InvalidParameter(f"These limits count the rows of one {limits.unit}.")
    if not _reads_once(plan, limits.table):
        raise InvalidParameter(
            "This question joins or repeats rows, so one unit has more of them here than were "
            f"measured. Ask about {limits.table} itself."
        )
    if sorted(key_columns(plan)) != sorted(name.lower() for name in limits.by):
        raise InvalidParameter(
            f"These limits are of questions by {', '.join(limits.by) or 'no group'}. Measure "
            "them by what this release is grouped by."
        )
    groups, rows = limits.caps
    if rows_of_unit(plan) > rows or plan.max_groups_per_unit > groups:
        raise InvalidParameter("The caps of these limits are below the limits of this release.")
    if plan.max_rows_per_unit is not None or plan.thresholding is not None:
        raise InvalidParameter(
            "A limit of rows over all groups, or groups that were found in the data, leave out "
            "more than what was measured."
        )


def _reads_once(plan: Plan, table: str) -> bool:
    """Whether each statement reads this table in one place, and nothing else."""
    read = [[name.lower() for name, _ in tables_read(tree_of(s.sql))] for s in plan.statements]
    return all(names == [table.lower()] for names in read)


def widen(
    mean: Inferred,
    part: GroupMeans,
    release: Release,
    limits: MeasuredLimits,
    confidence: Fraction,
) -> Inferred:
    """The interval for all rows up to the caps; `mean` is that for the counted ones, at
    `confidence` and a tenth of the rest."""
    if not np.isfinite([part.low, part.high]).all():
        raise InvalidParameter(
            f"{mean.what} has no public limits, so rows that are left out "
            "may change it by any amount."
        )
    share = left_out(part, release, limits, confidence)
    groups, rows = limits.caps
    caps = f"{rows} rows" + (f" in {groups} groups" if limits.by else "")
    target = (
        f"{mean.target.partition('; values are cut')[0]}; values are cut as declared, and one "
        f"{release.plan.unit} counts with up to {caps}, the caps of session.limits"
    )
    low, high = mean.interval
    ends = ((1 - share) * low + share * part.low, (1 - share) * high + share * part.high)
    note = f"The limits leave out at most {100 * share:.2g} % of the rows."
    return replace(
        mean,
        interval=ends,
        confidence=float(confidence),
        target=target,
        notes=(*mean.notes, note),
    )


def left_out(
    part: GroupMeans, release: Release, limits: MeasuredLimits, confidence: Fraction
) -> float:
    """The largest share of a group's rows in the population that the limits leave out."""
    each = 1 - UNKNOWN * (1 - confidence)  # both are needed at one end
    groups, rows = limits.histograms.groups, limits.histograms.rows
    counted = min(rows_of_unit(release.plan), rows.cap)
    over = _parts(rows, [max(0, i - counted) for i in range(1, rows.cap + 1)], rows=True)
    above, most = _at(rows, over), 1.0
    if groups is not None and groups.cap > release.plan.max_groups_per_unit:
        limit = release.plan.max_groups_per_unit
        dropped = [counted * max(0, j - limit) for j in range(1, groups.cap + 1)]
        parts = _parts(groups, dropped, rows=False)
        over, above, most = over + parts, above + _at(groups, parts), float(counted)
    below = float(sum(i * n for i, n in enumerate(rows.counts, 1)))
    cluster = float(rows.cap * limits.caps[0])
    out = GroupMeans(
        ("all",), np.array([above]), np.array([below]), over, "", 0.0, most, cluster=cluster
    )
    kept = replace(
        out,
        above=part.below,
        high=1.0,
        parts=tuple(NoisePart(p.noise, p.below, Fraction(0)) for p in part.parts)
        + tuple(NoisePart(p.noise, Fraction(0), p.below) for p in over if p.below),
    )
    left = float(population_ends(out, each)[1][0])
    stays = float(population_ends(kept, each)[0][0])
    return min(1.0, left / (left + stays)) if left > 0 else 0.0


def _parts(histogram: UnitHistogram, above: list[int], *, rows: bool) -> tuple[NoisePart, ...]:
    """The noise of each count; those of rows are also what the share is of."""
    return tuple(
        NoisePart(histogram.noise, Fraction(weight), Fraction(i if rows else 0))
        for i, weight in enumerate(above, 1)
    )


def _at(histogram: UnitHistogram, parts: tuple[NoisePart, ...]) -> float:
    pairs = zip(parts, histogram.counts, strict=True)
    return float(sum(part.above * count for part, count in pairs))
