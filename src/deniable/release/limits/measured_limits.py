"""What two histograms say about limits: shares left out, their noise, and a recommendation."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.exact.text_formats import percent
from deniable.ledger.ledger import Remaining
from deniable.mechanisms import Laplace
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan.contribution import Contribution
from deniable.query.plan.plan import Plan
from deniable.release.limits.unit_histograms import Share, UnitHistogram, UnitHistograms

QUANTILES = tuple(Fraction(level, 100) for level in (50, 90, 99))
_SHOWN = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200)


@dataclass(frozen=True, slots=True)
class LimitChoice:
    """One choice of both limits: what it leaves out, and the margin of a count."""

    groups: int
    rows: int
    left_out: Share  # of the rows, up to the caps
    margin: int


@dataclass(frozen=True)
class MeasuredLimits:
    """The histograms of one table, and what follows from them."""

    table: str
    unit: str
    by: tuple[str, ...]
    neighbors: Neighbors
    histograms: UnitHistograms
    current: tuple[int, int]  # the policy's limits of groups and rows
    answer_epsilon: Fraction  # at which the margins of counts are shown
    price: Remaining
    remaining: Remaining
    plans: tuple[Plan, ...]
    repeated: bool = False

    @property
    def caps(self) -> tuple[int, int]:
        """The caps of groups and rows: what lies beyond them was not measured."""
        groups = self.histograms.groups
        return (1 if groups is None else groups.cap), self.histograms.rows.cap

    def choice(self, groups: int, rows: int) -> LimitChoice:
        """What this choice of limits leaves out, and its margin."""
        left_out = self.histograms.rows_left_out(groups, rows)
        return LimitChoice(groups, rows, left_out, self._margin(groups, rows))

    def _margin(self, groups: int, rows: int) -> int:
        """The margin of COUNT(*) by these keys, with Laplace noise."""
        contribution = Contribution(size=1, total=1, low=0, high=1)
        keys = self.histograms.keys
        groups = groups if keys is None else min(groups, keys)
        total, _ = contribution.sensitivities(
            groups=groups, rows=rows, neighbors=self.neighbors, keyed=bool(self.by)
        )
        noise = Laplace(epsilon=self.answer_epsilon, sensitivity=total)
        return int(noise.margin(self.histograms.confidence))

    @cached_property
    def recommended(self) -> LimitChoice:
        """The limits with the least sum of noise and rows left out, in an average group."""
        groups_cap, rows_cap = self.caps
        histograms = self.histograms
        counts = histograms.rows.above_noise(histograms.confidence)
        every = sum(i * n for i, n in enumerate(counts, 1))
        groups = [histograms.pairs_left_out(g).value for g in range(1, groups_cap + 1)]
        best: tuple[float, int, int] | None = None
        for rows in range(1, rows_cap + 1):
            within = sum(max(0, i - rows) * n for i, n in enumerate(counts, 1))
            for limit, pairs in enumerate(groups, 1):
                lost = within + pairs * (every - within)
                error = lost / (histograms.keys or 1) + self._margin(limit, rows)
                best = min(best or (error, limit, rows), (error, limit, rows))
        assert best is not None
        return self.choice(*best[1:])

    @property
    def by_groups(self) -> list[tuple[int, Share, int]]:
        """For each limit of groups: the share of pairs left out, and a count's margin."""
        if self.histograms.groups is None:
            return []
        return [
            (limit, self.histograms.pairs_left_out(limit), self._margin(limit, self.current[1]))
            for limit in _shown(self.caps[0], self.current[0])
        ]

    @property
    def by_rows(self) -> list[tuple[int, Share, int]]:
        """For each limit of rows: the share of rows left out, and a count's margin."""
        return [
            (
                limit,
                self.histograms.rows_left_out(self.caps[0], limit),
                self._margin(self.current[0], limit),
            )
            for limit in _shown(self.caps[1], self.current[1])
        ]

    @property
    def quote(self) -> str:
        """What an answer says about what its limits leave out."""
        groups, rows = (min(pair) for pair in zip(self.current, self.caps, strict=True))
        share = self.choice(groups, rows).left_out
        what = describe_share(share)
        limit = f"{rows} rows" if rows > 1 else "1 row"
        caps = f"the cap of {self.caps[1]} rows"
        if self.by:
            limit = (
                f"{groups} groups with {limit} in each" if groups > 1 else f"1 group, {limit}"
            )
            caps = f"the caps of {self.caps[0]} groups and {self.caps[1]} rows"
        return (
            f"As measured before, the limit of {limit} leaves out {what} of the rows of "
            f"{self.table} below {caps}."
        )

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""

        def write_share(share: Share) -> dict[str, float]:
            return {"value": share.value, "low": share.low, "high": share.high}

        def choice(limits: LimitChoice) -> dict[str, Any]:
            return {
                "max_groups_per_unit": limits.groups,
                "max_rows_per_unit_per_group": limits.rows,
                "left_out": write_share(limits.left_out),
                "margin": limits.margin,
            }

        return {
            "table": self.table,
            "by": list(self.by),
            "histograms": {part.name: list(part.counts) for part in self.histograms.both},
            "groups": [
                {"limit": limit, "pairs_left_out": write_share(share), "margin": margin}
                for limit, share, margin in self.by_groups
            ],
            "rows": [
                {"limit": limit, "rows_left_out": write_share(share), "margin": margin}
                for limit, share, margin in self.by_rows
            ],
            "current": choice(self.choice(*self.current)),
            "recommended": choice(self.recommended),
            "answer_epsilon": str(self.answer_epsilon),
            "confidence": str(self.histograms.confidence),
        }


def _shown(cap: int, current: int) -> list[int]:
    """The limits that a table shows."""
    return sorted({limit for limit in (*_SHOWN, current, cap) if limit <= cap})


def describe_share(share: Share) -> str:
    """A share in words: a number with its interval, or a range.

    >>> describe_share(Share(0.09, 0.071, 0.112)), describe_share(Share(0.1, 0.02, 0.3, True))
    ('about 9 % (7.1 to 11.2 %)', '2 to 30 %')
    >>> describe_share(Share(0.2746, 0.2723, 0.2768))
    'about 27.5 % (27.2 to 27.7 %)'
    """
    if share.high == 0:
        return "nothing"
    ends = f"{_tenths(share.low)} to {_tenths(share.high)} %"
    # A whole per cent is too coarse for a small share, and for a short interval.
    digits = 2 if share.value >= 0.02 and share.high - share.low >= 0.02 else 3
    return ends if share.ranged else f"about {percent(round(share.value, digits))} ({ends})"


def _tenths(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0")


def describe_quantile(histogram: UnitHistogram, level: Fraction, confidence: Fraction) -> str:
    """A quantile of a histogram in words."""
    low, high = histogram.quantile(level, confidence)
    if high is None:
        return f"{low} or more" if low < histogram.cap else f"{histogram.cap} or more"
    return str(low) if low == high else f"{low} to {high}"
