"""A/B tests: planned before anything is spent, and looked at within one charge.

All looks of an experiment are steps of one reserved run: their epsilon is charged at its
beginning, and each look has noise of its own. The error is spent over the looks and over the
arms that are compared with the control, in equal parts (Bonferroni), for noise and sampling
together. So it is no mistake to stop at the first look that shows a difference.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from deniable.errors import InvalidParameter, UsedUp
from deniable.exact.rationals import Number, confidence_level, positive
from deniable.infer.comparisons import contrast
from deniable.infer.groups.drawn_samples import units_like_these
from deniable.infer.groups.group_means import GroupMeans, Key, find_group
from deniable.infer.groups.readings import noise_of_mean, read
from deniable.infer.inferred import Inferred
from deniable.policy import Column, Table
from deniable.privacy import PureLoss
from deniable.release.session.release import Release

_MOST_UNITS = 10**12
_SHARE = (Fraction(0), Fraction(1))


@dataclass(frozen=True, slots=True)
class Report:
    """One look at an experiment: each arm less the control."""

    release: Release
    arms: tuple[Key, ...]  # without the control
    effects: tuple[Inferred, ...]

    @property
    def decided(self) -> bool:
        """Whether an arm differs from the control."""
        return any(not effect.low <= 0 <= effect.high for effect in self.effects)

    def __str__(self) -> str:
        targets = dict.fromkeys(f"Target: {effect.target}." for effect in self.effects)
        return "\n".join([*map(str, self.effects), *targets])


@dataclass(frozen=True, slots=True)
class Power:
    """A chance to find an effect, or units in each arm: private, and without noise."""

    private: float
    plain: float

    def __str__(self) -> str:
        return f"{self.private:,.4g} (without noise {self.plain:,.4g})"


@dataclass(frozen=True, slots=True)
class Experiment:
    """A share or mean of several arms, compared with a control. See `Session.experiment`."""

    session: Any
    table: str
    arm: str
    outcome: str
    epsilon: Fraction  # of all looks together
    looks: int
    control: Key | None  # None: the first arm
    confidence: Fraction
    arms: int = 2

    @property
    def question(self) -> str:
        """The question of each look. Of each unit its mean outcome counts, once; a unit with
        rows in two arms is left out, by its own rows. Of outcomes that are no shares, how much
        they vary is measured too."""
        arm, outcome, table = map(_quote, (self.arm, self.outcome, self.table))
        source, unit = table, self._declared.unit
        deviation = "" if self._limits == _SHARE else f", STDDEV({outcome}) AS deviation"
        if unit is not None:
            source = (
                f"(SELECT {_quote(unit)}, MIN({arm}) AS {arm}, AVG({outcome}) AS {outcome} "
                f"FROM {table} WHERE {arm} IS NOT NULL GROUP BY {_quote(unit)} "
                f"HAVING MIN({arm}) = MAX({arm}))"
            )
        return (
            f"SELECT {arm}, COUNT({outcome}) AS n, AVG({outcome}) AS mean{deviation} "
            f"FROM {source} GROUP BY {arm}"
        )

    @property
    def _declared(self) -> Table:
        """The table, as the policy declares it."""
        tables: dict[str, Table] = {
            name.lower(): table for name, table in self.session.policy.tables.items()
        }
        return tables.get(self.table.lower(), Table(self.table))

    @property
    def _limits(self) -> tuple[Fraction, Fraction] | None:
        """The bounds of the outcome; None if a plan will say what is missing."""
        column = self._column(self.outcome)
        if column is not None and column.kind == "boolean":
            return _SHARE
        return None if column is None else column.bounds

    def _column(self, name: str) -> Column | None:
        columns = {own.lower(): column for own, column in self._declared.columns.items()}
        return columns.get(name.lower())

    @property
    def _compared(self) -> int:
        """How many arms are compared with the control: those that are declared."""
        column = self._column(self.arm)
        keys = None if column is None else column.keys
        return (len(keys) if isinstance(keys, tuple) else self.arms) - 1

    @property
    def each_epsilon(self) -> Fraction:
        """The epsilon of one look."""
        return self.epsilon / self.looks

    def power(
        self, *, baseline: float, effect: float, units: int, deviation: float | None = None
    ) -> Power:
        """The chance that one look at `units` units in each arm finds a change of a share from
        `baseline` to `baseline + effect`. Of a mean, `deviation` says how much the outcomes of
        single units vary: a public guess."""
        plain, noise = self._errors(baseline, effect, deviation)
        return self._power(effect, plain / units, noise / units**2)

    def units_needed(
        self,
        *,
        baseline: float,
        effect: float,
        power: float = 0.8,
        deviation: float | None = None,
    ) -> Power:
        """How many units in each arm one look needs to find the change with this chance."""
        plain, noise = self._errors(baseline, effect, deviation)

        def least(private: bool) -> int:
            low, high = 1, _MOST_UNITS
            while low < high:
                middle = (low + high) // 2
                power_of_size = self._power(effect, plain / middle, noise / middle**2)
                enough = (power_of_size.private if private else power_of_size.plain) >= power
                low, high = (low, middle) if enough else (middle + 1, high)
            return low

        return Power(least(True), least(False))

    def run(self) -> Report:
        """The only look of an experiment that was planned with one."""
        if self.looks != 1:
            raise InvalidParameter(
                f"This experiment has {self.looks} looks. Write `with experiment.reserve() as "
                "looks:` and `looks.next()`, so that they are charged once."
            )
        self._check()
        return self._report(self.session.sql(self.question, epsilon=self.epsilon))

    @contextmanager
    def reserve(self) -> Iterator["Looks"]:
        """Charges all looks at once; `next()` is the next one."""
        self._check()
        with self.session.reserve_run(PureLoss(self.epsilon), tables=[self.table]) as run:
            yield Looks(self, run)

    def _check(self) -> None:
        """Refuses before the charge what could not be reported after it."""
        plan = self.session.plan(self.question, epsilon=self.each_epsilon)
        self.session.check(plan)
        keys = plan.keys[0].values
        if keys is None or len(keys) < 2:
            raise InvalidParameter(
                f"The arms of an experiment are public. Declare two or more keys of {self.arm} "
                "in the policy."
            )
        find_group(tuple(keys), keys[0] if self.control is None else self.control)

    def _report(self, release: Release) -> Report:
        means = read(release, "mean", "n")
        assert isinstance(means, GroupMeans)
        means = replace(means, what=f"AVG({self.outcome})")
        control = means.groups[0] if self.control is None else self.control
        arms = tuple(key for key in means.groups if key != control)
        each = 1 - (1 - self.confidence) / (self.looks * len(arms))
        # No sample's fraction makes these errors smaller: which arm a unit is in was chance.
        effects = (contrast(means, {key: 1, control: -1}, confidence=each) for key in arms)
        target = units_like_these(release)
        return Report(
            release, arms, tuple(replace(effect, target=target) for effect in effects)
        )

    def _errors(
        self, baseline: float, effect: float, deviation: float | None
    ) -> tuple[float, float]:
        """The variance of a difference with one unit in each arm: from sampling, and from
        noise."""
        low, high = map(float, self._limits or (0, 1))
        ends = (baseline, baseline + effect)
        if not all(low <= end <= high for end in ends) or effect == 0:
            raise InvalidParameter(
                f"`baseline` and `baseline + effect` must be shares or means between {low:g} "
                f"and {high:g}, and the effect not 0. Found {baseline} and {effect}."
            )
        share, most = (low, high) == (0, 1), (high - low) / 2
        if not share and (deviation is None or not 0 < deviation <= most):
            raise InvalidParameter(
                f"The power for a mean of {self.outcome} needs `deviation`: how much outcomes "
                f"of single units vary. It is above 0 and at most {most:g}. Found {deviation}."
            )
        plan = self.session.plan(self.question, epsilon=self.each_epsilon)
        spreads = [p * (1 - p) if deviation is None else deviation**2 for p in ends]
        return math.fsum(spreads), math.fsum(noise_of_mean(plan, "mean", p) for p in ends)

    def _power(self, effect: float, plain: float, noise: float) -> Power:
        return Power(self._chance(effect, plain + noise), self._chance(effect, plain))

    def _chance(self, effect: float, variance: float) -> float:
        allowed = float(1 - self.confidence) / (self.looks * max(self._compared, 1))
        needed = NormalDist().inv_cdf(1 - allowed / 2)
        if variance == 0:
            return 1.0
        return NormalDist().cdf(abs(effect) / math.sqrt(variance) - needed)


class Looks:
    """The looks of a reserved experiment, one after the other."""

    def __init__(self, experiment: Experiment, run: Any) -> None:
        self._experiment, self._run = experiment, run
        self._taken = 0

    def next(self) -> Report:
        """The next look, with fresh noise."""
        if self._taken >= self._experiment.looks:
            raise UsedUp(f"All {self._experiment.looks} looks of this experiment were taken.")
        self._taken += 1
        question, epsilon = self._experiment.question, self._experiment.each_epsilon
        return self._experiment._report(self._run.sql(question, epsilon=epsilon))


def plan_experiment(
    session: Any,
    table: str,
    *,
    arm: str,
    outcome: str,
    epsilon: Number,
    looks: int = 1,
    arms: int = 2,
    control: Key | None = None,
    confidence: Number = 0.95,
) -> Experiment:
    """Implements `Session.experiment`."""
    for name, number, least in (("looks", looks, 1), ("arms", arms, 2)):
        if type(number) is not int or number < least:
            raise InvalidParameter(
                f"`{name}` must be a whole number, {least} or more. Found {number!r}."
            )
    charge = positive(epsilon, "epsilon")
    level = confidence_level(confidence)
    return Experiment(session, table, arm, outcome, charge, looks, control, level, arms)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
