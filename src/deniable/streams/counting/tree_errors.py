"""How far an estimate from a tree lies from the truth: certified bounds on quantiles.

The estimate of a node of height h weighs the 2**(h - k) numbers of height k below it with
2**k / (2**(h + 1) - 1) each. So the error S of a sum of nodes is a weighted sum of independent
discrete Laplace noises, and its characteristic function is a product of known factors.

Let U be the sum of 16 independent uniform numbers, in all from -u to u. Then P(|S| > m + u) is
at most P(|S + U| > m). For a period P and any x below P / 2,

    P(S + U lies within x of a multiple of P)
        = 2 x / P + sum over n >= 1 of 2 / (pi n) phi(2 pi n / P) sin(2 pi n x / P),

with phi the characteristic function of S + U. This is P(|S + U| <= x), except for what lies
beyond P / 2, which Chernoff's bound limits to `_TINY`. The terms beyond n = N add up to at most
2 / (16 pi) (16 P / (2 pi u N))**16: N is chosen so that this is `_TINY` as well. The floats of
the sum are off by less than `_ROUNDING`: a relative error r of each argument moves phi by at
most r times t times the sum of all weights times E|Z|, which is below 10**6 for up to 64 nodes,
and the factors 2 / (pi n) add up to less than 8. So the quantile that is found is an upper
bound; it is above the least one by about u, a fiftieth of the standard deviation or less.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import least_margin
from deniable.mechanisms.noise.laplace import LaplaceNoise

Floats: TypeAlias = NDArray[np.float64]

_UNIFORMS = 16  # in U
_TINY = 1e-9
_ROUNDING = 1e-8
_SLACK = 2 * _TINY + _ROUNDING
_RARE = 1e-6  # misses that are rarer are bounded by Chernoff's bound alone
_WIDENING = 1 / 64  # of U, in scales of the widest noise, times the root of the nodes
_LEAST_WIDENING = 1 / 64  # in grid steps: what is shown is a whole number of these
_LARGEST_RATE = 600.0
_PARTS = 32  # of the range of Chernoff's parameter that are tried


class NodeError(NamedTuple):
    """The error of the estimate of one node, from noises of one scale."""

    scale: Fraction
    height: int

    def weights(self) -> list[tuple[int, float]]:
        """How many noises have which weight, from the node's own down to the leaves.

        >>> NodeError(Fraction(1), 1).weights()
        [(1, 0.6666666666666666), (2, 0.3333333333333333)]
        """
        whole = (1 << self.height + 1) - 1
        heights = range(self.height, -1, -1)
        return [(1 << self.height - below, (1 << below) / whole) for below in heights]

    @property
    def rate(self) -> float:
        """P(Z = z) falls by exp(-rate) from step to step; a larger rate leaves no noise."""
        return min(float(1 / self.scale), _LARGEST_RATE)

    @property
    def steepness(self) -> float:
        """q, with which a noise's characteristic function is 1 / (1 + q sin(t / 2)**2)."""
        return 1 / math.sinh(self.rate / 2) ** 2


class _Grid(NamedTuple):
    """The period and the smoothing with which sums of some nodes are computed."""

    period: float
    widening: float  # u

    @property
    def terms(self) -> int:
        """N."""
        least = math.pow(2 / (math.pi * _UNIFORMS * _TINY), 1 / _UNIFORMS)
        return math.ceil(least * _UNIFORMS * self.period / (2 * math.pi * self.widening))


@lru_cache(maxsize=1 << 16)
def certified_quantile(nodes: tuple[NodeError, ...], confidence: Fraction) -> float:
    """An m with P(|S| <= m) >= confidence, a little above the least one.

    >>> tree = (NodeError(Fraction(10), 0), NodeError(Fraction(10), 2))
    >>> 36 < certified_quantile(tree, Fraction(19, 20)) < 37
    True
    """
    if len(nodes) == 1 and not nodes[0].height:
        return float(least_margin(LaplaceNoise(nodes[0].scale), confidence))
    missed = float(1 - confidence)
    if missed < _RARE:
        return _chernoff(nodes, missed * (1 - 1e-9))
    scale, count = max(node.scale for node in nodes), 1 << (len(nodes) - 1).bit_length()
    grid = _grid(scale, count)
    inside = _inside(nodes, grid)
    place = int(np.argmax(inside >= float(confidence) + _SLACK))
    if not place:  # not below half the period: only if almost nothing may be missed
        return _chernoff(nodes, missed * (1 - 1e-9))
    return place * grid.period / (2 * (len(inside) - 1)) + grid.widening


@lru_cache(maxsize=256)
def _grid(scale: Fraction, count: int) -> _Grid:
    """A grid for up to that many nodes: of all nodes, leaves have the widest errors."""
    leaves = [NodeError(scale, 0)] * count
    wide = max(_WIDENING * float(scale) * math.sqrt(count), _LEAST_WIDENING)
    return _Grid(2 * (_chernoff(leaves, _TINY) + wide), wide)


def _inside(nodes: Sequence[NodeError], grid: _Grid) -> Floats:
    """P(|S + U| <= x), to within the slack, for x = 0, ..., P / 2 in even steps."""
    phi = _smoothing(grid).copy()
    for node in nodes:
        phi *= _characteristic(node, grid)
    n = np.arange(1, grid.terms + 1)
    length = 1 << (2 * grid.terms + 1).bit_length()
    spectrum = np.zeros(length // 2 + 1, np.complex128)
    spectrum[1 : grid.terms + 1] = -1j * length / 2 * phi * 2 / (math.pi * n)
    half = length // 2 + 1
    waves = np.fft.irfft(spectrum, length)[:half]
    return np.asarray(waves + np.arange(half) * (2 / length))


@lru_cache(maxsize=16)
def _smoothing(grid: _Grid) -> Floats:
    """The characteristic function of U."""
    t = np.arange(1, grid.terms + 1) * (2 * math.pi / grid.period)
    return np.asarray(np.sinc(t * (grid.widening / _UNIFORMS / math.pi)) ** _UNIFORMS)


@lru_cache(maxsize=128)
def _characteristic(node: NodeError, grid: _Grid) -> Floats:
    """The characteristic function of the error of one node."""
    t = np.arange(1, grid.terms + 1) * (2 * math.pi / grid.period)
    exponent = np.zeros(grid.terms)
    for count, weight in node.weights():
        exponent += count * np.log1p(node.steepness * np.sin(t * (weight / 2)) ** 2)
    return np.exp(-exponent)


def _chernoff(nodes: Sequence[NodeError], missed: float) -> float:
    """An m with P(|S| > m) <= missed: 2 exp(-z m) E exp(z S) is, for some z > 0."""
    most = min(node.rate / node.weights()[0][1] for node in nodes)  # E exp(z S) is finite below
    bounds = []
    for part in range(1, _PARTS):
        z, exponent = most * part / _PARTS, 0.0
        for node in nodes:
            for count, weight in node.weights():
                grown = node.steepness * math.sinh(z * weight / 2) ** 2
                exponent -= count * math.log1p(-grown)
        bounds.append((math.log(2 / missed) + exponent) / z)
    return min(bounds) * (1 + 1e-9)
