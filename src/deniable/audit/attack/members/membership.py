"""Membership: who is in a study, from its published averages (Homer et al. 2008).

The trace statistic of a person x is the sum over columns of (x - p)(q - p): p is the average of
the population, q the published one. For members its mean is about d/n, for d columns and n
people, and its standard deviation the root of that: averages of many more columns than people
tell who is in (Dwork et al. 2015).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.finding_sections import Section, show_share
from deniable.audit.attack.findings import AttackFinding
from deniable.audit.attack.members.score_comparisons import area_under_curve, hits_at
from deniable.audit.attack.rows.owned_sources import read_owned
from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.exact.rationals import Number, whole
from deniable.mechanisms import Gaussian

Floats = NDArray[np.float64]
Bits = NDArray[np.int64]
_LEAST_ROWS = 25


@dataclass(frozen=True, slots=True)
class TraceResult:
    """How well one release tells members from others."""

    about: str
    auc: float
    hits: float  # of members, where 5 % of the others are taken for members


@dataclass(frozen=True, repr=False, eq=False)
class MembershipFinding(AttackFinding):
    """How well members are told from others: with an exact release, and with a private one."""

    title: ClassVar[str] = "Membership: who is in the data"
    people: int  # members
    facts: int  # published averages or cells
    exact: TraceResult
    private: TraceResult
    made_up: bool = False

    def sections(self) -> Sequence[Section]:
        about = (
            f"{self.facts:,} published numbers about {self.people:,} people. AUC: how often a "
            "member scores higher than somebody else; 0.5 is a coin."
        )
        rows = tuple(
            (trace_result.about, f"{trace_result.auc:.2f}", show_share(trace_result.hits, 1))
            for trace_result in (self.exact, self.private)
        )
        columns = ("release", "AUC", "members found at 5 % false alarms")
        fix = (
            "To protect them: publish fewer averages, or all of them with noise, as one charge."
        )
        return [Section("", (about,), columns, rows), Section("", (fix,))]


def membership(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    epsilon: Number = 1,
    delta: Number = 1e-6,
    table: str | None = None,
) -> MembershipFinding:
    """The trace attack on the averages of columns of 0 and 1, exact and with Gaussian noise.

    The rows are divided at random: the averages of one fifth are published, another fifth are
    the others, and the rest is what the attacker knows about the population.

    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(1)
    >>> answers = rng.integers(0, 2, (250, 1000))
    >>> attack = membership(pa.table({f"q{i}": answers[:, i] for i in range(1000)}))
    >>> attack.exact.auc > 0.8, attack.private.auc < 0.8
    (True, True)
    """
    owned = read_owned(source, table=table)
    bits = _read_bits(owned.rows, columns)
    members, others, reference = (bits[part] for part in divide_rows(len(bits)))
    known, price = reference.mean(axis=0), f"epsilon {float(epsilon):g}, delta {float(delta):g}"
    trace_results = [
        judge_traces(about, [trace(members, others, publish_means(members, *paid), known)])
        for about, paid in (("exact averages", (None, delta)), (price, (epsilon, delta)))
    ]
    people, facts = members.shape
    return MembershipFinding(people, facts, trace_results[0], trace_results[1], owned.made_up)


def divide_rows(many: int) -> list[Bits]:
    """The places of members (a fifth), others (a fifth) and the known population, at random.

    >>> [len(part) for part in divide_rows(100)]
    [20, 20, 60]
    """
    if many < _LEAST_ROWS:
        raise InvalidParameter(f"This attack divides the rows: give {_LEAST_ROWS} or more.")
    order = np.argsort(SYSTEM.draw(63, many)).astype(np.int64)
    return np.split(order, [many // 5, 2 * (many // 5)])


def _read_bits(rows: Any, columns: Sequence[str] | None) -> Bits:
    names = rows.column_names if columns is None else list(columns)
    try:
        listed = [np.asarray(rows[name].cast("int64").to_numpy()) for name in names]
        bits = np.stack(listed, axis=1)
    except (KeyError, ValueError, NotImplementedError):
        bits = np.full((1, 1), 2)
    if not np.isin(bits, (0, 1)).all():
        raise InvalidParameter("`columns` must name columns of 0 and 1, or of true and false.")
    return bits.astype(np.int64)


def simulate_membership(
    people: int, columns: int, *, repeats: int = 100, epsilon: Number = 1, delta: Number = 1e-6
) -> MembershipFinding:
    """The classic experiment on made-up people: each column has a share between 0.1 and 0.9.

    >>> attack = simulate_membership(50, 1000, repeats=3)
    >>> attack.exact.auc > 0.95
    True
    """
    n, d = whole(people, "people", least=2), whole(columns, "columns", least=1)
    traces: dict[bool, list[tuple[Floats, Floats]]] = {False: [], True: []}
    for _ in range(whole(repeats, "repeats", least=1)):
        shares = 0.1 + 0.8 * _uniform(d)
        everybody = (_uniform(2 * n * d).reshape(2 * n, d) < shares).astype(np.int64)
        members, others = everybody[:n], everybody[n:]
        for private in traces:
            means = publish_means(members, epsilon if private else None, delta)
            traces[private].append(trace(members, others, means, shares))
    price = f"epsilon {float(epsilon):g}, delta {float(delta):g}"
    exact = judge_traces("exact averages", traces[False])
    return MembershipFinding(n, d, exact, judge_traces(price, traces[True]), made_up=True)


def publish_means(bits: Bits, epsilon: Number | None, delta: Number) -> Floats:
    """The averages of columns of 0 and 1; with an epsilon, from sums with Gaussian noise."""
    sums, (n, d) = bits.sum(axis=0), bits.shape
    if epsilon is not None:
        # One person moves each of d sums by 1 at most: together by the root of d.
        noise = Gaussian.calibrated(epsilon=epsilon, delta=delta, sensitivity=_root_above(d))
        sums = np.asarray(noise.release(sums))
    return np.asarray(sums / n, dtype=np.float64)


def trace(
    members: Bits, others: Bits, published: Floats, population: Floats
) -> tuple[Floats, Floats]:
    """The trace statistic of members and of others."""
    direction = published - population
    return (members - population) @ direction, (others - population) @ direction


def _root_above(d: int) -> int:
    """The least whole number that is not below the root of d."""
    return math.isqrt(d - 1) + 1


def judge_traces(about: str, traces: Sequence[tuple[Floats, Floats]]) -> TraceResult:
    """The averages over several experiments, each with the scores of members and of others."""
    aucs = [area_under_curve(*scores) for scores in traces]
    hits = [hits_at(*scores, 0.05) for scores in traces]
    return TraceResult(about, float(np.mean(aucs)), float(np.mean(hits)))


def _uniform(count: int) -> Floats:
    return np.asarray(SYSTEM.draw(53, count) / 2.0**53, dtype=np.float64)
