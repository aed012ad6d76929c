"""How the rows of a release were drawn: the fraction of each group, and what it is a sample of.

A fraction comes from the caller, or from what the policy declares (`[tables.x.sample]`).
Without both, rows or units count as independent draws from a population of unknown size.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational
from deniable.infer.groups.group_means import GroupMeans, Key, find_group
from deniable.infer.groups.unit_squares import adds_up_rows, rows_of_unit, units_in
from deniable.policy.sample import Sample
from deniable.query.plan.plan import KeyColumn, Plan
from deniable.release.session.release import Release

Fractions: TypeAlias = Number | Mapping[Key, Number] | None

_UNKNOWN = Fraction(1, 50)  # of 1 - confidence, for the number of rows


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is known about how a group's rows were drawn."""

    target: str
    fraction: float | None = None
    frame: int | None = None  # the size of the population of this group's stratum, or of all

    @property
    def declared(self) -> bool:
        """Whether the population has a known size."""
        return self.fraction is not None or self.frame is not None

    def sampled(self, draws: float) -> float:
        """The share that was sampled, at least; `draws` are the fewest rows that there may be,
        or the fewest units if the frame counts these."""
        if self.fraction is not None:
            return self.fraction
        if self.frame is not None and draws > self.frame:
            raise InvalidParameter(
                f"The frame of this sample is {self.frame:,}, and at least {draws:,.0f} were "
                "drawn of it. Correct the frame, or declare the sample's fraction."
            )
        return 0.0 if self.frame is None else draws / self.frame


def draw_of(release: Release, group: Key, fraction: Fractions) -> Drawn:
    """How the rows of a group were drawn."""
    plan, sample = release.plan, release.sample
    if fraction is not None:
        return Drawn(_target(plan, "a simple random sample"), _fraction_of(fraction, group))
    if sample is None:
        return Drawn(_target(plan, "independent draws"))
    how = "a random sample of whole units" if sample.clustered else "a simple random sample"
    if sample.by is None:
        share, frame = sample.stratum(None)
        return Drawn(_target(plan, how), _float(share), frame)
    share, frame = sample.stratum(_stratum(plan, sample, group))
    return Drawn(_target(plan, f"{how}, in strata of {sample.by}"), _float(share), frame)


def sampled_part(
    release: Release, means: GroupMeans, place: int, fraction: Fractions, level: Fraction
) -> GroupMeans:
    """One group, with the share of its population that was sampled."""
    part = means.at(place)
    draw = draw_of(release, means.groups[place], fraction)
    return replace(part, sampled=draw.sampled(_fewest_draws(release, part, place, level)))


def _fewest_draws(release: Release, part: GroupMeans, place: int, level: Fraction) -> float:
    """A number of rows, or of units of a clustered sample, that was sampled at least."""
    chance = (1 - level) * _UNKNOWN
    rows = float(part.row_limits(chance)[0][0])
    clustered = release.sample is not None and release.sample.clustered
    units = units_in(release, place, chance) if clustered else None
    if units is not None:
        return units
    # A unit, or the weight of one row, adds up to `cluster` to what was counted.
    return rows / part.cluster if clustered or part.weighed else rows


def _stratum(plan: Plan, sample: Sample, group: Key) -> Any:
    """The stratum of a group: one of its keys."""
    names = key_columns(plan)
    if str(sample.by).lower() not in names:
        raise InvalidParameter(
            f"The sample was drawn in strata of {sample.by}, and a number of all strata "
            "together does not count each as much as the population does. Group by "
            f"{sample.by}, and take the strata together with dp.infer.weighted()."
        )
    keys = group if isinstance(group, tuple) else (group,)
    return keys[names.index(str(sample.by).lower())]


def key_columns(plan: Plan) -> list[str]:
    """The columns that a plan groups by, in small letters."""
    about = {o.node.place: o.about for o in plan.outputs if isinstance(o.node, KeyColumn)}
    return [about.get(place, key.name).lower() for place, key in enumerate(plan.keys)]


def _fraction_of(fraction: Fractions, group: Key) -> float:
    number: Any = fraction
    if isinstance(fraction, Mapping):
        keys = tuple(fraction)
        number = fraction[keys[find_group(keys, group)]]
    share = float(rational(number, "fraction"))
    if not 0 < share <= 1:
        raise InvalidParameter(f"`fraction` must be above 0 and at most 1. Found {number}.")
    return share


def units_like_these(release: Release) -> str:
    """What an experiment says something about: units that come as its own did, all alike."""
    plan, sample = release.plan, release.sample
    units = "rows" if plan.unit is None else f"{plan.unit}s"
    strata = "" if sample is None or sample.by is None else f", in strata of {sample.by}"
    counted = (
        "" if plan.unit is None else f"; of each {plan.unit} its mean outcome counts, once"
    )
    population = f"the population, of which the {units} are independent draws{strata}"
    return f"{population}; values are cut as declared{counted}"


def _target(plan: Plan, how: str) -> str:
    """What is inferred about: clipped values, and of one unit as many rows as count here."""
    unit, rows = plan.unit, rows_of_unit(plan)
    population = (
        f"the population, of which the {'rows' if unit is None else f'{unit}s'} are {how}"
    )
    if unit is None:
        return f"{population}; values are cut as declared"
    limits = f"{rows} row{'s' if rows > 1 else ''} in {plan.max_groups_per_unit} group"
    limits += "s" if plan.max_groups_per_unit > 1 else ""
    limits = "its limit of rows" if adds_up_rows(plan) else limits
    return (
        f"{population}; values are cut as declared, and one {unit} counts with up to {limits}"
    )


def _float(share: Fraction | None) -> float | None:
    return None if share is None else float(share)
