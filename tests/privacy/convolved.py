"""Epsilons of plans, computed a second time: an oracle that shares no code with the package.

Every loss is rounded to the nearest multiple of a step (atoms to one of two, so that their mean
stays), and the rounded losses are convolved. Rounding moves the sum of n losses by its mean,
which is known, and by at most step sqrt(n ln(2 / rare) / 2) around it, except with probability
`rare` (Hoeffding). So both bounds are rigorous up to the errors of float arithmetic, which
`_FLOATS` covers with a wide margin; where 64 bits might not do, 80 are used. The method is that
of Gopi, Lee & Wutschitz, "Numerical composition of differential privacy" (2021), with tilted
masses.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.fft
from scipy.special import gammaln, ndtr, ndtri

_FLOATS = 1e-7  # relative error of a delta that comes from the masses, by a wide margin
_MANY = 1000  # losses, for which more cells are used
_BELL = 1 / math.sqrt(2 * math.pi)
_STEEP = 300  # the greatest tilt, divided by the widest range of losses of a law


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

    def _quadrature(self, reach, steps):
        """Losses and weights. Both are smooth in z, so that sums over even steps converge
        faster than any power of the step."""
        z, h = np.linspace(-reach, reach + self.mu, steps, retstep=True)
        inner = self.mu * (z - self.mu / 2)
        losses = inner if self.q == 1 else np.log1p(self.q * np.expm1(inner))
        bell, moved = (np.exp(-((z - a) ** 2) / 2) * h for a in (0.0, self.mu))
        weights = ((1 - self.q) * bell + self.q * moved if self.forward else bell) * _BELL
        return (losses if self.forward else -losses), weights

    @property
    def mean(self):
        losses, weights = self._quadrature(16.0, 4096)
        return float((losses * weights).sum())

    def points(self, rare, steps=512):
        """Losses with weights, except for a probability of about `rare`."""
        return self._quadrature(-float(ndtri(rare)), steps)

    def height(self, tilt, rare):
        """ln E e**(tilt L)."""
        return _log_mean(tilt, *self.points(rare, 8192))


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

    def points(self, rare):
        edges = np.linspace(-self.epsilon, self.epsilon, 256)
        middles, weights = (edges[1:] + edges[:-1]) / 2, np.diff(self.below(edges)[0])
        losses, masses = np.array(self.atoms).T
        return np.append(losses, middles), np.append(masses, weights)

    def height(self, tilt, rare):
        e, slope = self.epsilon, tilt + 0.5
        between = -math.expm1(-2 * slope * e) / (4 * slope)
        (_, low), (_, high) = self.atoms
        return tilt * e + math.log(high + low * math.exp(-2 * tilt * e) + between)


@dataclass(frozen=True)
class Coin:
    """Randomized response, sampled with probability q; forward or backward."""

    epsilon: float
    q: float = 1.0
    forward: bool = True
    atoms: list = field(init=False, default=None, hash=False, compare=False)

    def __post_init__(self):
        truth = 1 / (1 + math.exp(-self.epsilon))
        atoms = []
        for inner, p in ((self.epsilon, truth), (-self.epsilon, 1 - truth)):
            loss = math.log1p(self.q * math.expm1(inner))
            under_q = p * math.exp(-inner)
            mixed = (1 - self.q) * under_q + self.q * p
            atoms.append((loss, mixed) if self.forward else (-loss, under_q))
        object.__setattr__(self, "atoms", sorted(atoms))

    @property
    def mean(self):
        return math.fsum(loss * mass for loss, mass in self.atoms)

    def points(self, rare):
        losses, masses = np.array(self.atoms).T
        return losses, masses

    def height(self, tilt, rare):
        return _log_mean(tilt, *self.points(rare))


def _log_mean(tilt, losses, weights):
    """ln of the mean of e**(tilt loss)."""
    powers = tilt * losses + np.log(np.maximum(weights, 1e-300))
    return float(powers.max() + np.log(np.exp(powers - powers.max()).sum()))


def _masses(law, step, rare):
    """First index, masses of the multiples of `step`, what lies above them, and the variance
    that rounding adds."""
    span = float(np.abs(law.points(rare)[0]).max())
    last = math.ceil(span / step) + 1
    masses, lost, added = np.zeros(2 * last + 1), 0.0, 0.0
    if not isinstance(law, Coin):
        edges = (np.arange(-last, last + 2) - 0.5) * step
        low, high = law.below(edges)
        masses += np.maximum(np.where(edges[:-1] < 0, np.diff(low), -np.diff(high)), 0.0)
        lost, added = float(high[-1]), float(masses.sum()) * step**2 / 12
    if not isinstance(law, Gaussian):
        for loss, mass in law.atoms:  # divided between two neighbours, so that its mean stays
            place = math.floor(loss / step)
            share = loss / step - place
            masses[last + place] += (1 - share) * mass
            masses[last + place + 1] += share * mass
            added += share * (1 - share) * mass * step**2
    return -last, masses, lost, added


@dataclass(frozen=True)
class Bounds:
    """Rigorous bounds on an epsilon, and an estimate. If rounding adds the variance v, it adds
    about v (t + 1) / 2 to epsilon. v follows from what it adds to ln E e**(t L), and is about
    step**2 / 12 of each loss. `tolerance` is twice the sum of both, and sqrt(v) times the share
    of a possible atom of the sum."""

    low: float
    estimate: float
    high: float
    tolerance: float


def bounds(plan, delta):
    """Bounds on epsilon at delta, for laws with counts."""
    if len(plan) == 1 and isinstance(plan[0][0], Coin):
        return _binomial(*plan[0], delta)
    count = sum(n for _, n in plan)
    cells = 1 << (20 if count > _MANY else 18)
    coarse, fine = (_bounds_on_grid(plan, delta, count, size) for size in (cells // 2, cells))
    # If both effects of rounding cancel, the difference of two grids still shows them.
    doubt = min(2 * abs(fine.estimate - coarse.estimate), (fine.high - fine.low) / 2)
    return replace(fine, tolerance=max(fine.tolerance, doubt))


def _bounds_on_grid(plan, delta, count, cells):
    rare = delta * 1e-6
    points = _Points.of(plan, rare / count)
    tilt, capped = points.tilt(delta)
    first, last = points.window(tilt)
    step = (last - first) / cells
    laws = [(*_masses(law, step, rare / count), n) for law, n in plan]
    moved = math.fsum(
        n * (law.mean - _mean(start, masses) * step)
        for (law, n), (start, masses, *_) in zip(plan, laws, strict=True)
    )
    lost = math.fsum(n * above for _, _, above, _, n in laws)
    error = math.sqrt(count * math.log(2 / rare) / 2) * step
    for kind in (np.float64, np.longdouble):
        curve = _Curve(laws, step, tilt, round(first / step), cells, kind)
        near = curve.epsilon(delta)
        noise = curve.noise(near) + delta * _FLOATS
        least, most = curve.epsilon(delta + noise), curve.epsilon(delta - noise)
        if most - least < max(error / 20, near * 1e-7):
            break
    low = curve.epsilon(delta + noise + rare) - error
    high = curve.epsilon(delta - noise - 2 * rare - lost) + error
    added = math.fsum(n * variance for *_, variance, n in laws) * (tilt + 1) / 2
    exact = math.fsum(n * law.height(tilt, rare / count) for law, n in plan)
    raised = ((curve.height - exact) / tilt + moved) * (tilt + 1) / tilt
    doubt = 2 * added + 2 * abs(raised) + _atoms_moved(plan, step, tilt)
    tolerance = (error if capped else min(error, doubt)) + most - least
    return Bounds(*(max(x + moved, 0.0) for x in (low, near, high)), tolerance)


def _binomial(coin, count, delta):
    """The bounds for one coin: the number of its greater losses is binomial."""
    (low, _), (high, share) = coin.atoms
    j = np.arange(count + 1)
    ways = gammaln(count + 1) - gammaln(j + 1) - gammaln(count - j + 1)
    masses = np.exp(ways + j * math.log(share) + (count - j) * math.log1p(-share))
    losses = low * count + (high - low) * j
    least, most = 0.0, max(float(losses[-1]), 0.0)
    for _ in range(80):
        x = (least + most) / 2
        enough = float((masses * -np.expm1(np.minimum(x - losses, 0.0))).sum()) <= delta
        least, most = (least, x) if enough else (x, most)
    error = 1e-8 * (1 + most)
    return Bounds(most - error, most, most + error, error)


def _atoms_moved(plan, step, tilt):
    coarse = [(law, n) for law, n in plan if not isinstance(law, Gaussian)]
    moved = math.sqrt(sum(n for _, n in coarse)) * step / 2
    apart = max((law.atoms[-1][0] - law.atoms[0][0] for law, _ in coarse), default=0.0)
    return moved * min(1.0, apart * (tilt + 1))


def _mean(start, masses):
    return float(((start + np.arange(masses.size)) * masses.astype(np.longdouble)).sum())


@dataclass(frozen=True)
class _Points:
    """Losses with weights, close to the laws: to choose a tilt and a window."""

    laws: list
    widest: float

    @classmethod
    def of(cls, plan, rare):
        laws = [(*law.points(rare), n) for law, n in plan]
        return cls(laws, max(losses.max() - losses.min() for losses, _, _ in laws))

    def height(self, t):
        """ln E e**(t L) of the sum."""
        return math.fsum(n * _log_mean(t, *atoms) for *atoms, n in self.laws)

    def tilt(self, delta):
        """The t whose Chernoff bound on epsilon is least, and whether a greater one is left
        out, because its sum would be the greatest one almost surely."""
        guesses = np.geomspace(1e-3, _STEEP / self.widest, 120)
        costs = [
            (self.height(t) - t * math.log1p(1 / t) - math.log1p(t) - math.log(delta)) / t
            for t in guesses
        ]
        best = int(np.argmin(costs))
        return float(guesses[best]), best == guesses.size - 1

    def window(self, t):
        """Where the tilted sum lies, except with a probability of about 1e-14."""
        height, ends = self.height(t), []
        for sign in (-1, 1):
            ends.append(
                sign * min(
                    (self.height(t + sign * s) - height + 32) / s
                    for s in np.geomspace(1e-3, 10 * _STEEP / self.widest, 60)
                )
            )  # fmt: skip
        return ends[0] - self.widest / 64, ends[1] + self.widest / 64


class _Curve:
    """delta(x) of the sum of the masses, by one Fourier transform of tilted masses."""

    def __init__(self, laws, step, tilt, first, size, kind):
        self._unit = float(np.finfo(kind).eps)
        self._count = sum(n for *_, n in laws)
        total, height, start = 1.0, kind(0), 0
        for begin, masses, *_, n in laws:
            powers = kind(tilt) * kind(step) * (begin + np.arange(masses.size))
            peak = (powers + np.log(np.maximum(masses, 1e-300))).max()
            tilted = masses * np.exp(powers - peak)
            scale = tilted.sum()
            rows = np.pad(tilted / scale, (0, -masses.size % size)).reshape(-1, size)
            total = total * _power(scipy.fft.rfft(rows.sum(axis=0)), n)
            height += n * (np.log(scale) + peak)
            start += n * begin
        wrapped = np.roll(scipy.fft.irfft(total, size), (start - first) % size)
        self.losses = kind(step) * (first + np.arange(size))
        self._tilt, self.height, self._step = tilt, float(height), step
        self._middle = self.losses[size // 2]
        self._most = float(wrapped.max())
        powers = height - kind(tilt) * self.losses
        limit = kind(np.log(np.finfo(kind).max)) / 2
        once = np.maximum(wrapped, 0) * np.exp(np.minimum(powers, limit))
        self._masses, self._once = once, np.cumsum(once[::-1])[::-1]
        self._wide = self._middle - self.losses[0] > limit / 2  # e**loss has no float
        if not self._wide:
            away = np.exp(self._middle - self.losses)
            self._twice = np.cumsum((once * away)[::-1])[::-1]

    def delta(self, x):
        at = int(np.searchsorted(self.losses, x, side="right"))
        if at >= self.losses.size:
            return 0.0
        if not self._wide:
            return float(self._once[at] - self._twice[at] * np.exp(x - self._middle))
        end = int(np.searchsorted(self.losses, x + 50))  # beyond, 1 - e**(x - loss) is 1
        near = self._masses[at:end] * -np.expm1(x - self.losses[at:end])
        return float(near.sum() + (self._once[end] if end < self.losses.size else 0.0))

    def noise(self, x):
        """About ten times the error of delta(x) that comes from rounding."""
        t = self._tilt
        cells = 1 / (self._step * t * (t + 1)) + 1
        each = self._unit * (4 * self._count + 200) * self._most
        return each * cells * math.exp(min(self.height - t * x, 700.0))

    def epsilon(self, delta):
        low, high = float(self.losses[0]), float(self.losses[-1])
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high


def _power(f, n):
    if n == 1:
        return f
    size = np.abs(f)
    turns = np.angle(f) * n
    with np.errstate(divide="ignore", under="ignore"):
        return np.exp(n * np.log(size)) * (np.cos(turns) + 1j * np.sin(turns))
