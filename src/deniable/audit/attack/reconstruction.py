"""Reconstruction: too many sums that are too exact give everybody's secret away.

Dinur & Nissim (2003): a few times n random subset sums with errors far below the root of n
determine nearly all of n secret bits; a linear programme finds them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.finding_sections import Section, show_share
from deniable.audit.attack.findings import AttackFinding
from deniable.audit.attack.least_errors import fit_values
from deniable.audit.attack.rows.owned_sources import read_owned
from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.exact.rationals import Number, positive, whole
from deniable.mechanisms import Gaussian


@dataclass(frozen=True, repr=False, eq=False)
class ReconstructionFinding(AttackFinding):
    """The share of secret bits that are right, for each standard deviation of the noise."""

    title: ClassVar[str] = "Reconstruction: secret bits from sums over random groups"
    people: int
    sums: int
    shares: tuple[tuple[float, float], ...]  # (noise, share of right bits)
    baseline: float  # by saying the more frequent value for everybody
    made_up: bool = False

    def share(self, noise: float) -> float:
        """The share of right bits at one of the noises."""
        return dict(self.shares)[noise]

    def sections(self) -> Sequence[Section]:
        about = (
            f"{self.people} people, {self.sums} sums over random groups of them. Guessing the "
            f"more frequent value for everybody is right for {show_share(self.baseline, 1)}."
        )
        bars = tuple((f"noise {noise:g}", share) for noise, share in self.shares)
        fix = (
            f"The noise must be about {self.people**0.5:.0f} (the root of the number of "
            "people) or more, or the questions fewer. A privacy budget sees to that."
        )
        return [Section("Bits that are right", (about,), shares=bars), Section("", (fix,))]


def reconstruction(
    source: Any,
    *,
    secret: str | None = None,
    people: int | None = None,
    sums: int | None = None,
    noises: Sequence[Number] = (0, 2, 4, 8, 16),
    repeats: int = 1,
    table: str | None = None,
) -> ReconstructionFinding:
    """The share of secret bits that subset sums give away, as noise grows.

    `source` holds a column `secret` with two values; or it is a number of people, whose bits
    are then made up. Of a table, `people` rows are drawn at random (64, or fewer). `sums`
    random groups are asked (four times as many as people), with rounded Gaussian noise.

    >>> attack = reconstruction(16, noises=[0, 16])
    >>> attack.share(0)
    1.0
    """
    rounds = whole(repeats, "repeats", least=1)
    bits, made_up = _read_bits(source, secret, people, table)
    many = len(bits)
    sum_count = 4 * many if sums is None else whole(sums, "sums", least=1)
    shares = []
    for noise in noises:
        right = [_attack(bits, sum_count, noise) for _ in range(rounds)]
        shares.append((float(noise), float(np.mean(right))))
    common = max(bits.mean(), 1 - bits.mean())
    return ReconstructionFinding(many, sum_count, tuple(shares), float(common), made_up)


def _attack(bits: NDArray[np.int64], sums: int, noise: Number) -> float:
    """Asks random groups, solves, and counts the right bits."""
    many = len(bits)
    groups = SYSTEM.draw(1, sums * many).astype(np.int64).reshape(sums, many)
    answers = groups @ bits
    if noise:
        answers = np.asarray(Gaussian(sigma=positive(noise, "noises")).release(answers))
    parts = np.stack([np.zeros_like(groups), groups]).astype(np.float64)
    counts = fit_values(parts, answers.astype(np.float64), np.ones(many))
    return float(((counts[:, 1] > 0.5) == bits).mean())


def _read_bits(
    source: Any, secret: str | None, people: int | None, table: str | None
) -> tuple[NDArray[np.int64], bool]:
    if isinstance(source, int):
        return SYSTEM.draw(1, whole(source, "people", least=1)).astype(np.int64), True
    owned = read_owned(source, table=table)
    if secret not in owned.rows.column_names:
        raise InvalidParameter("Name a column with two values: `secret`.")
    column = owned.rows[secret].to_pylist()
    values = sorted(set(column), key=str)
    if len(values) != 2:
        raise InvalidParameter(
            f"`secret` must have two values. {secret!r} has {len(values)}. `questions` attacks "
            "secrets of several values."
        )
    sample_size = min(64, len(column)) if people is None else whole(people, "people", least=1)
    order = np.argsort(SYSTEM.draw(63, len(column)))[:sample_size]
    return np.array([column[i] == values[1] for i in order], dtype=np.int64), owned.made_up
