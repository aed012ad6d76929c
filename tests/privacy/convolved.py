"""Epsilons of plans, computed a second time: an oracle that shares no code with the package.

Every loss is rounded to the nearest multiple of a step (atoms to one of two, so that their mean
stays), and the rounded losses are convolved in
80-bit floats. Rounding moves the sum of n losses by its mean, which is known, and by at most
step sqrt(n ln(2 / rare) / 2) around it, except with probability `rare` (Hoeffding). So both
bounds are rigorous up to the errors of 80-bit arithmetic, which `_FLOATS` covers with a wide
margin. The method is that of Gopi, Lee & Wutschitz, "Numerical composition of differential
privacy" (2021), with tilted masses.
"""

import math
from dataclasses import dataclass, field

import mpmath
import numpy as np
import scipy.fft
from scipy.special import ndtr

_FLOATS = 1e-5  # relative error of a delta, by a wide margin
_CELLS = 1 << 18


@dataclass(frozen=True)
class Gaussian:
    """N(mu, 1) against N(0, 1), sampled with probability q; forward or backward."""

    mu: float
    q: float = 1.0
    forward: bool = True

    def _place(self, loss):
        """The output z at which the (forward) loss is `loss`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.log(np.maximum(np.expm1(loss) + self.q, 0.0) / self.q)
        return inner / self.mu + self.mu / 2

    def below(self, loss):
        """P(L <= loss) and P(L > loss), each with a small relative error."""
        z = self._place(loss if self.forward else -loss)
        low, high = ndtr(z), ndtr(-z)
        if not self.forward:
            return high, low
        p_low, p_high = ndtr(z - self.mu), ndtr(self.mu - z)
        return (1 - self.q) * low + self.q * p_low, (1 - self.q) * high + self.q * p_high

    @property
    def mean(self):
        def loss(z):
            return mpmath.log1p(
                self.q * mpmath.expm1(self.mu * z - mpmath.mpf(self.mu) ** 2 / 2)
            )

        def term(z):
            if not self.forward:
                return -mpmath.npdf(z) * loss(z)
            density = (1 - self.q) * mpmath.npdf(z) + self.q * mpmath.npdf(z - self.mu)
            return density * loss(z)

        return float(mpmath.quad(term, list(range(-16, 17 + math.ceil(self.mu), 2))))


@dataclass(frozen=True)
class Laplace:
    """Laplace noise, shifted by epsilon times its scale."""

    epsilon: float

    @property
    def atoms(self):
        return [(-self.epsilon, math.exp(-self.epsilon) / 2), (self.epsilon, 0.5)]

    def below(self, loss):
        """Of the losses between the two atoms."""
        e = self.epsilon
        low = np.exp((np.clip(loss, -e, e) - e) / 2) / 2 - math.exp(-e) / 2
        return low, (1 - math.exp(-e)) / 2 - low

    @property
    def mean(self):
        return self.epsilon + math.exp(-self.epsilon) - 1


@dataclass(frozen=True)
class Coin:
    """Randomized response, sampled with probability q; forward or backward."""

    epsilon: float
    q: float = 1.0
    forward: bool = True
    atoms: list = field(init=False, default=None, hash=False, compare=False)

    def __post_init__(self):
        truth = 1 / (1 + math.exp(-self.epsilon))
        found = []
        for inner, p in ((self.epsilon, truth), (-self.epsilon, 1 - truth)):
            loss = math.log1p(self.q * math.expm1(inner))
            under_q = p * math.exp(-inner)
            mixed = (1 - self.q) * under_q + self.q * p
            found.append((loss, mixed) if self.forward else (-loss, under_q))
        object.__setattr__(self, "atoms", sorted(found))

    @property
    def mean(self):
        return math.fsum(loss * mass for loss, mass in self.atoms)


def _masses(law, step, rare):
    """First index, masses of the multiples of `step`, and what lies above them."""
    if isinstance(law, Gaussian):
        span = 1e-6
        while (
            max(float(law.below(np.array(span))[1]), float(law.below(np.array(-span))[0]))
            > rare
        ):
            span *= 1.1
    else:
        span = max(abs(loss) for loss, _ in law.atoms)
    last = math.ceil(span / step) + 1
    masses, lost = np.zeros(2 * last + 1), 0.0
    if not isinstance(law, Coin):
        edges = (np.arange(-last, last + 2) - 0.5) * step
        low, high = law.below(edges)
        masses += np.maximum(np.where(edges[:-1] < 0, np.diff(low), -np.diff(high)), 0.0)
        lost = float(high[-1])
    if not isinstance(law, Gaussian):
        for loss, mass in law.atoms:  # divided between two neighbours, so that its mean stays
            place = math.floor(loss / step)
            share = loss / step - place
            masses[last + place] += (1 - share) * mass
            masses[last + place + 1] += share * mass
    return -last, masses, lost


@dataclass(frozen=True)
class Bounds:
    """Rigorous bounds on an epsilon, and an estimate whose error is about
    n step**2 (t + 1) / 24, of which `tolerance` is six times as much."""

    low: float
    estimate: float
    high: float
    tolerance: float


def bounds(plan, delta, step=None):
    """Bounds on epsilon at delta, for laws with counts."""
    count = sum(n for _, n in plan)
    rare = delta * 1e-6
    spread = math.sqrt(count * math.log(2 / rare) / 2)
    step = step or _choose_step(plan, delta, rare / count)
    laws = [(*_masses(law, step, rare / count), n) for law, n in plan]
    moved = math.fsum(
        n * (law.mean - math.fsum((first + np.arange(masses.size)) * masses) * step)
        for (law, n), (first, masses, _, _) in zip(plan, laws, strict=True)
    )
    lost = math.fsum(n * above for _, _, above, n in laws)
    curve = _Curve(laws, step, delta)
    error = spread * step
    low = curve.epsilon(delta * (1 + _FLOATS) + rare) + moved - error
    high = curve.epsilon(delta * (1 - _FLOATS) - 2 * rare - lost) + moved + error
    near = curve.epsilon(delta) + moved
    return Bounds(
        max(low, 0.0), max(near, 0.0), max(high, 0.0), count * step**2 * (curve.t + 1) / 4
    )


def _choose_step(plan, delta, rare):
    variance = mean = 0.0
    for law, n in plan:
        first, masses, _ = _masses(law, 1e-3, rare)
        losses = (first + np.arange(masses.size)) * 1e-3
        center = float((losses * masses).sum())
        mean += n * center
        variance += n * float(((losses - center) ** 2 * masses).sum())
    widest = max(_masses(law, 1e-3, rare)[1].size for law, _ in plan) * 1e-3
    return (2 * widest + 24 * math.sqrt(variance) + 1e-3) / _CELLS


class _Curve:
    def __init__(self, laws, step, delta):
        size = _CELLS * 2
        self.step, t = step, 0.0
        best = math.inf
        for guess in np.geomspace(1e-2, 1e5, 57):
            height = self._height(laws, step, guess)
            epsilon = (height - math.log(delta)) / guess
            if epsilon < best:
                best, t = epsilon, float(guess)
        total = np.ones(size // 2 + 1, dtype=np.clongdouble)
        height, start = 0.0, 0
        for first, masses, _, n in laws:
            losses = np.longdouble(step) * (first + np.arange(masses.size))
            tilted = masses.astype(np.longdouble) * np.exp(
                np.longdouble(t) * (losses - losses[-1])
            )
            scale = tilted.sum()
            rows = np.pad(tilted / scale, (0, -masses.size % size)).reshape(-1, size)
            total *= scipy.fft.rfft(rows.sum(axis=0)) ** np.longdouble(n)
            height += n * float(np.log(scale) + np.longdouble(t) * losses[-1])
            start += n * first
        found = scipy.fft.irfft(total, size)
        middle = round(best / step) - size // 2
        self.mass = np.maximum(np.roll(found, (start - middle) % size), 0)
        self.losses = np.longdouble(step) * (middle + np.arange(size))
        self.t, self.height = t, np.longdouble(height)
        away = self.losses - np.longdouble(best)
        with np.errstate(over="ignore", under="ignore"):
            once = np.where(
                self.mass > 0, self.mass * np.exp(self.height - self.t * self.losses), 0
            )
        self._once = np.cumsum(once[::-1])[::-1]
        self._twice = np.cumsum((once * np.exp(-away))[::-1])[::-1]
        self._best = np.longdouble(best)

    @staticmethod
    def _height(laws, step, t):
        total = 0.0
        for first, masses, _, n in laws:
            losses = step * (first + np.arange(masses.size))
            with np.errstate(under="ignore"):
                total += n * (
                    math.log(float((masses * np.exp(t * (losses - losses[-1]))).sum() + 1e-300))
                    + t * losses[-1]
                )
        return total

    def delta(self, x):
        at = int(np.searchsorted(self.losses, x, side="right"))
        if at >= self.losses.size:
            return 0.0
        return float(self._once[at] - self._twice[at] * np.exp(np.longdouble(x) - self._best))

    def epsilon(self, delta):
        low, high = float(self.losses[0]), float(self.losses[-1])
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high
