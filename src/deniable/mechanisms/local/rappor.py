"""RAPPOR: text from an open list, reported many times without averaging out the noise.

A value sets up to `hashes` bits of a Bloom filter, hashed differently in each of `cohorts`
groups; a client stays in one group. Its *permanent* noise is drawn once per value and stored:
each bit is 1 with probability f/2, 0 with probability f/2, else the true bit. Every report then
draws *fresh* noise: 1 with probability q where the permanent bit is 1, p where it is 0.

Two values differ in at most 2 `hashes` bits. The permanent noise hides each with odds
(1 - f/2) / (f/2), so all reports of a value together cost at most ((2 - f) / f)**(2 hashes).
Let q* and p* be the probabilities of a 1 from a true 1 and a true 0. One report costs at most
(q* (1 - p*) / (p* (1 - q*)))**hashes. A value that changes costs again, and only the fresh
noise hides that it changed. Erlingsson, Pihur & Korolova, "RAPPOR: randomized aggregatable
privacy-preserving ordinal response", 2014.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact import bernoulli, uniform_below
from deniable.exact.keyed_bits import KeyedBits
from deniable.exact.rationals import Number, probability, whole
from deniable.mechanisms.local.answers import read_reports
from deniable.mechanisms.local.tally import Tally
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import PureLoss

_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True, init=False)
class Rappor:
    """The parameters that clients and the collector share; the defaults are from the paper.

    The list of values is not known here, so there is no `estimate` and no `variance`.
    `deniable.surveys.decode` reads the tallies for a list of candidates, with standard errors.

    >>> design = Rappor()
    >>> round(design.loss.epsilon(), 6), round(design.loss_once.epsilon(), 6)
    (4.394449, 1.074286)
    """

    bits: int
    hashes: int
    cohorts: int
    f: Fraction
    p: Fraction
    q: Fraction

    @check_arguments
    def __init__(
        self,
        bits: int = 16,
        hashes: int = 2,
        cohorts: int = 64,
        f: Number = Fraction(1, 2),
        p: Number = Fraction(1, 2),
        q: Number = Fraction(3, 4),
    ) -> None:
        for name, count in (("bits", bits), ("hashes", hashes), ("cohorts", cohorts)):
            object.__setattr__(self, name, whole(count, name))
        for name, rate in (("f", f), ("p", p), ("q", q)):
            object.__setattr__(self, name, probability(rate, name))
        if not 0 < self.f < 1:
            raise InvalidParameter(
                f"`f` must be above 0 and below 1. Found {self.f}. At 0 there is no permanent "
                "noise, so repeated reports reveal the value; at 1 the reports say nothing."
            )
        if self.p >= self.q:
            raise InvalidParameter(f"`p` must be below `q`. Found {self.p} and {self.q}.")

    @property
    def loss(self) -> PureLoss:
        """What all reports about one value cost together, for any number of reports."""
        return PureLoss(odds=((2 - self.f) / self.f) ** (2 * self.hashes))

    @property
    def loss_once(self) -> PureLoss:
        """What a single report costs; never more than all of them together."""
        high, low = self.rates
        if low == 0 or high == 1:
            return self.loss
        once = (high * (1 - low) / (low * (1 - high))) ** self.hashes
        return min(PureLoss(odds=once), self.loss, key=lambda loss: loss.epsilon())

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The probabilities that a reported bit is 1 if the true bit is 1, and if it is 0.

        >>> Rappor().rates
        (Fraction(11, 16), Fraction(9, 16))
        """
        blind = self.f * (self.p + self.q) / 2
        return blind + (1 - self.f) * self.q, blind + (1 - self.f) * self.p

    def bloom(self, value: str, cohort: int) -> list[int]:
        """The bits of a value's filter in a cohort: public, the same for all people.

        >>> sum(Rappor().bloom("blue", 7)) <= 2
        True
        """
        filter_bits = [0] * self.bits
        for i in range(self.hashes):
            label = f"{cohort}/{i}/{value}".encode()
            number = int.from_bytes(hashlib.sha256(label).digest()[:8], "big")
            filter_bits[number % self.bits] = 1
        return filter_bits

    def client(self, secret: bytes, *, question: str = "") -> "RapporClient":
        """One person's device. Its secret stays on it and fixes cohort and permanent noise.

        If a device answers several questions, give each a name as `question`. Otherwise equal
        values would have equal noise, and the reports would show that they are equal.

        >>> me = Rappor().client(b"0123456789abcdef0123456789abcdef")
        >>> me.permanent("blue") == me.permanent("blue")
        True
        """
        return RapporClient(self, secret, question)

    def pmf(self, report: Sequence[int], value: str) -> Fraction:
        """P(cohort and bits | value) of a client's first report, exactly."""
        cohort, *bits = (int(number) for number in report)
        if not 0 <= cohort < self.cohorts or len(bits) != self.bits:
            return Fraction(0)
        high, low = self.rates
        chance = Fraction(1, self.cohorts)
        for bit, true in zip(bits, self.bloom(value, cohort), strict=True):
            rate = high if true else low
            chance *= rate if bit else 1 - rate
        return chance

    def randomize(self, values: Iterable[str]) -> NDArray[np.uint16 | np.int64]:
        """One report per person: a row with a cohort and the bits. Every person is new.

        >>> Rappor().randomize(["blue", "red"]).shape
        (2, 17)
        """
        names, which = _number_values(values)
        cohort = uniform_below(self.cohorts, which.size)
        pairs, place = np.unique(which * self.cohorts + cohort, return_inverse=True)
        drawn = (divmod(pair, self.cohorts) for pair in pairs.tolist())
        filters = np.array([self.bloom(names[name], c) for name, c in drawn], dtype=bool)
        kind = np.uint16 if self.cohorts <= 1 << 16 else np.int64
        out = np.empty((which.size, 1 + self.bits), dtype=kind)
        out[:, 0] = cohort
        for start in range(0, which.size, _AT_ONCE):
            batch = slice(start, start + _AT_ONCE)
            true = filters[place[batch]]
            out[batch, 1:] = self._draw_fresh(self._draw_permanent(true))
        return out

    def _draw_permanent(self, true: NDArray[np.bool_]) -> NDArray[np.bool_]:
        shape, half = true.shape, Fraction(1, 2)
        blind = bernoulli(self.f, true.size).reshape(shape)
        return np.where(blind, bernoulli(half, true.size).reshape(shape), true)

    def _draw_fresh(self, permanent: NDArray[np.bool_]) -> NDArray[np.bool_]:
        ones, zeros = (bernoulli(x, permanent.size) for x in (self.q, self.p))
        return np.where(
            permanent, ones.reshape(permanent.shape), zeros.reshape(permanent.shape)
        )

    def aggregate(self, reports: Any) -> Tally:
        """For each cohort, the number of reports and the number of reports with each bit.

        >>> len(Rappor().aggregate(Rappor().randomize(["blue", "red"])))
        1088
        """
        rows = read_reports(reports)
        if rows.ndim != 2 or rows.shape[1] != 1 + self.bits or not rows.size:
            raise InvalidData(
                f"Reports must be one or more rows of a cohort and {self.bits} bits."
            )
        cohort, bits = rows[:, 0].astype(np.int64), rows[:, 1:]
        if cohort.max() >= self.cohorts or cohort.min() < 0 or not np.isin(bits, (0, 1)).all():
            raise InvalidData("Some reports cannot come from this design.")
        table = np.zeros((self.cohorts, 1 + self.bits), dtype=np.int64)
        table[:, 0] = np.bincount(cohort, minlength=self.cohorts)
        for j in range(self.bits):
            table[:, 1 + j] = np.bincount(cohort[bits[:, j] == 1], minlength=self.cohorts)
        return Tally(self, tuple(table.ravel().tolist()), rows.shape[0])


@dataclass(frozen=True, slots=True, repr=False)
class RapporClient:
    """One person's device. It recomputes the permanent noise from a secret; it stores none."""

    design: Rappor
    secret: bytes
    question: str = ""

    @property
    def cohort(self) -> int:
        """The client's cohort; it never changes."""
        source = KeyedBits(self.secret, self._label("cohort"))
        return int(uniform_below(self.design.cohorts, 1, source=source)[0])

    def permanent(self, value: str) -> list[int]:
        """The value's bits with permanent noise. Never send them: that costs the whole loss."""
        design = self.design
        source = KeyedBits(self.secret, self._label("permanent", value))
        blind = bernoulli(design.f, design.bits, source=source)
        coin = bernoulli(Fraction(1, 2), design.bits, source=source)
        true = np.array(design.bloom(value, self.cohort), dtype=bool)
        return [int(bit) for bit in np.where(blind, coin, true)]

    def report(self, value: str) -> list[int]:
        """The report to send: the cohort and bits with fresh noise.

        >>> len(Rappor().client(b"0123456789abcdef").report("blue"))
        17
        """
        fresh = self.design._draw_fresh(np.array(self.permanent(value), dtype=bool))
        return [self.cohort, *(int(bit) for bit in fresh)]

    def _label(self, *parts: str) -> str:
        """The label of the random bits: different designs, questions and values share none."""
        return repr(("rappor", self.design, self.question, *parts))


def _number_values(values: Iterable[str]) -> tuple[list[str], NDArray[np.int64]]:
    listed = list(values)
    if not listed or not all(isinstance(value, str) for value in listed):
        raise InvalidData("Values must be a list of one or more texts.")
    names, which = np.unique(np.array(listed, dtype=object), return_inverse=True)
    return names.tolist(), which.astype(np.int64).ravel()
