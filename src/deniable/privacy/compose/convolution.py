"""Sums of independent grid losses, by Fourier transform, with a bound on rounding errors.

Masses are tilted: multiplied by e**(tilt loss) and scaled to add up to 1. So the relevant part
of the distribution has most of the mass, and an absolute error is a relative one. Bounds, with
u = 2**-53:

- the relative error of a transform of length N in the 2-norm is at most 10 u log2 N (Higham,
  "Accuracy and stability of numerical algorithms", section 24.1, with a wide margin), so the
  error of one frequency of masses x is at most 10 u log2 N sqrt(N) |x|;
- if the error of a factor f is at most b, that of f**c is at most |f + b|**c c b / (|f| + b),
  and similarly for products;
- an error of E(f) in each frequency causes an error of at most mean(E) in each mass.

Many different short terms are first convolved in pairs, then pairs of pairs and so on, so that
only few transforms have the full length. Their errors are added up in the 1-norm.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.arithmetic.dominating_pairs import Floats
from deniable.privacy.arithmetic.floats import UNIT

_FEW = 16  # masses of a term that are multiplied out


@dataclass(frozen=True)
class GridTerm:
    """Masses at indices first, first + 1, ...; the term occurs `count` times in the sum.

    `error` bounds the 1-norm of their error.
    """

    first: int
    mass: Floats
    count: int = 1
    error: float = 0.0


@dataclass(frozen=True)
class GridSum:
    """The distribution of the sum on a window of indices; mass outside is wrapped into it."""

    first: int
    mass: Floats
    error: float  # of each mass


def convolve(terms: Sequence[GridTerm], first: int, size: int) -> GridSum:
    """The sum of all terms, on the indices first, ..., first + size - 1 (taken modulo size)."""
    left = _join_short_terms(terms, size)
    frequencies = size // 2 + 1
    product: NDArray[np.complex128] = np.ones(frequencies, dtype=np.complex128)
    grown = np.zeros(frequencies)  # ln of the product of (|f| + b)**count
    wrong = np.zeros(frequencies)  # the sum of relative errors
    for term in left:
        f = np.fft.rfft(_fold(term, size))
        size_f = np.abs(f)
        bound = term.error + transform_error(size) * math.sqrt(size) * _norm(term.mass)
        wide = size_f + bound
        logs = np.log(wide)
        grown += term.count * logs
        if term.count == 1:
            product *= f
            wrong += bound / wide + 4 * UNIT
        else:
            product *= _raise_to(f, size_f, term.count)
            turns = np.abs(logs) + math.pi
            wrong += term.count * (bound / wide + 8 * UNIT * turns) + 16 * UNIT
    mass = np.fft.irfft(product, size)
    spread = _mean_over_frequencies(np.exp(grown) * np.minimum(wrong, 2.0), size)
    error = spread + transform_error(size) * (_norm(mass) + spread * math.sqrt(size))
    start = sum(term.first * term.count for term in left)
    return GridSum(first, np.roll(mass, (start - first) % size), error * (1 + 1e-9))


def convolve_jumps(
    terms: Sequence[GridTerm], jumps: Sequence[GridTerm], first: int, size: int
) -> GridSum:
    """The sum of all terms in which one or two of them are replaced by their jump.

    It is the part of degree one and two in z of the product of (term + z jump)**count. Each
    coefficient is carried with a bound on its magnitude and one on its error.
    """
    ones = np.ones(size // 2 + 1)
    total = [_Frequencies(ones.astype(complex), ones, 0 * ones)]
    for term, jump in zip(terms, jumps, strict=True):
        steady, rare = _transform(term, size), _transform(jump, size)
        powers = [steady.power(n) for n in range(term.count, max(term.count - 3, -1), -1)]
        ways = (1.0, float(term.count), term.count * (term.count - 1) / 2)
        series = [powers[0]]
        for k in range(1, len(powers)):
            series.append(powers[k] * rare.power(k) * ways[k])
        total = [
            _Frequencies.add([total[i] * series[k - i] for i in range(k + 1)
                              if i < len(total) and k - i < len(series)])
            for k in range(min(3, len(total) + len(series) - 1))
        ]  # fmt: skip
    frequencies = _Frequencies.add(total[1:])
    mass = np.fft.irfft(frequencies.value, size)
    spread = _mean_over_frequencies(frequencies.error, size)
    error = spread + transform_error(size) * (_norm(mass) + spread * math.sqrt(size))
    start = sum(term.first * term.count for term in terms)
    return GridSum(first, np.roll(mass, (start - first) % size), error * (1 + 1e-9))


@dataclass(frozen=True)
class _Frequencies:
    """A transform, with bounds on the magnitude (error included) and the error of each
    frequency."""

    value: NDArray[np.complex128]
    most: Floats
    error: Floats

    def __mul__(self, other: "_Frequencies | float") -> "_Frequencies":
        if not isinstance(other, _Frequencies):
            return _Frequencies(self.value * other, self.most * other, self.error * other)
        most = self.most * other.most
        error = self.error * other.most + self.most * other.error + 8 * UNIT * most
        return _Frequencies(self.value * other.value, most, error)

    def power(self, count: int) -> "_Frequencies":
        if count == 0:
            ones = np.ones_like(self.most)
            return _Frequencies(ones.astype(complex), ones, 0 * ones)
        if count == 1:
            return self
        logs = np.log(np.maximum(self.most, 1e-300))
        most = np.exp(np.minimum(count * logs, 700.0)) * (1 + 64 * UNIT * count)
        wrong = count * (self.error / np.maximum(self.most, 1e-300))
        wrong += count * 8 * UNIT * (np.abs(logs) + math.pi) + 16 * UNIT
        value = _raise_to(self.value, np.abs(self.value), count)
        return _Frequencies(value, most, most * np.minimum(wrong, 2.0))

    @staticmethod
    def add(terms: "Sequence[_Frequencies]") -> "_Frequencies":
        value = sum((term.value for term in terms[1:]), start=terms[0].value)
        most = sum((term.most for term in terms[1:]), start=terms[0].most)
        error = sum((term.error for term in terms[1:]), start=terms[0].error)
        return _Frequencies(value, most, error + 4 * UNIT * most)


def _transform(term: GridTerm, size: int) -> _Frequencies:
    f = np.fft.rfft(_fold(term, size))
    bound = term.error + transform_error(size) * math.sqrt(size) * _norm(term.mass)
    return _Frequencies(f, np.abs(f) * (1 + 4 * UNIT) + bound, np.full(f.size, bound))


def _mean_over_frequencies(errors: Floats, size: int) -> float:
    """The mean over all frequencies, of which `errors` holds the non-negative ones."""
    doubled = 2 * float(errors.sum()) - float(errors[0])
    return (doubled - float(errors[-1]) if size % 2 == 0 else doubled) / size


def fast_length(size: int) -> int:
    """A length of at least `size` for which the transform is fast."""
    power = 1 << max(size - 1, 1).bit_length()
    return next((n for n in (power * 5 // 8, power * 3 // 4, power) if n >= size), power)


def transform_error(size: int) -> float:
    """An upper bound on the relative error, in the 2-norm, of a transform of that length."""
    return 10 * UNIT * max(math.log2(size), 1.0)


def _raise_to(
    f: NDArray[np.complex128], magnitude: Floats, count: int
) -> NDArray[np.complex128]:
    with np.errstate(divide="ignore", under="ignore"):
        size = np.exp(count * np.log(magnitude))
    angle = np.mod(np.angle(f) * count, 2 * math.pi)
    power: NDArray[np.complex128] = size * (np.cos(angle) + 1j * np.sin(angle))
    return power


def _fold(term: GridTerm, size: int) -> Floats:
    """The masses, added up modulo `size`."""
    if term.mass.size <= size:
        return np.pad(term.mass, (0, size - term.mass.size))
    rows = -(-term.mass.size // size)
    full = np.pad(term.mass, (0, rows * size - term.mass.size))
    return np.asarray(full.reshape(rows, size).sum(axis=0))


def _norm(mass: Floats) -> float:
    return math.sqrt(float(np.einsum("i,i", mass, mass)))  # np.dot would use all cores


def _join_short_terms(terms: Sequence[GridTerm], size: int) -> list[GridTerm]:
    """Convolves short terms with count 1 in pairs; the others stay as they are."""
    repeated = [term for term in terms if term.count > 1]
    single = sorted((term for term in terms if term.count == 1), key=lambda t: t.mass.size)
    while len(single) > 2 and 4 * single[len(single) // 2].mass.size < size:
        single = sorted(_join_neighbors(single), key=lambda term: term.mass.size)
    return repeated + single


def _join_neighbors(terms: list[GridTerm]) -> list[GridTerm]:
    """Convolves neighbours. Those with few masses are multiplied out; of the others, those
    whose transforms have the same length are done at once."""
    out = [terms[-1]] if len(terms) % 2 else []
    pairs = list(zip(terms[0 : len(terms) - 1 : 2], terms[1::2], strict=False))
    batches: dict[int, list[tuple[GridTerm, GridTerm]]] = {}
    for a, b in pairs:
        if max(np.count_nonzero(a.mass), np.count_nonzero(b.mass)) <= _FEW:
            out.append(_multiply_out(a, b))
            continue
        length = fast_length(a.mass.size + b.mass.size - 1)
        batches.setdefault(length, []).append((a, b))
    for length, batch in batches.items():
        out += _convolve_batch(batch, length)
    return out


def _multiply_out(a: GridTerm, b: GridTerm) -> GridTerm:
    """Each mass is a sum of products of two others. It has a relative error of at most u for
    every product and every addition."""
    places = np.add.outer(np.flatnonzero(a.mass), np.flatnonzero(b.mass)).ravel()
    products = np.multiply.outer(a.mass[a.mass != 0], b.mass[b.mass != 0]).ravel()
    mass = np.bincount(places, products, a.mass.size + b.mass.size - 1)
    rounding = (places.size + 2) * UNIT * (1 + a.error) * (1 + b.error)
    carried = a.error * (1 + b.error) + b.error * (1 + a.error)
    return GridTerm(a.first + b.first, mass, 1, carried + rounding)


def _convolve_batch(batch: list[tuple[GridTerm, GridTerm]], length: int) -> list[GridTerm]:
    rows = np.zeros((2, len(batch), length))
    for i, pair in enumerate(batch):
        for j, term in enumerate(pair):
            rows[j, i, : term.mass.size] = term.mass
    spectra = np.fft.rfft(rows, axis=2)
    masses = np.fft.irfft(spectra[0] * spectra[1], length, axis=1)
    rough = transform_error(length)
    joined = []
    for (a, b), mass in zip(batch, masses, strict=True):
        size = a.mass.size + b.mass.size - 1
        norms = (_norm(a.mass) + _norm(b.mass)) * (1 + a.error + b.error)
        rounding = math.sqrt(length) * 2 * rough * (norms + _norm(mass))
        carried = a.error * (1 + b.error) + b.error * (1 + a.error)
        joined.append(
            GridTerm(a.first + b.first, np.maximum(mass[:size], 0.0), 1, carried + rounding)
        )
    return joined
