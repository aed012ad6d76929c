"""Running sums with Laplace noise, for pure epsilon: the binary tree.

Node (h, i) is the sum of the steps from i 2**h to (i + 1) 2**h. It is released, with discrete
Laplace noise, when its last step ends. An event is in one node of each height, so it moves all
of them together by (number of heights) in the L1 norm, and the whole costs epsilon (Dwork,
Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011). Nodes are disjoint at each height, so
this holds for inputs that depend on the answers too: given the past, each node is one Laplace
release.

A sum of steps is a sum of few nodes. Each node is estimated from its own number and those of
all nodes below it, with the weights of least variance (Honaker 2015): the estimate of a node of
height h is a_h times its number plus 1 - a_h times its halves' estimates, a_0 = 1 and a_h = 2
a_(h-1) / (1 + 2 a_(h-1)), and its variance is a_h times that of one number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.query.margins.noise_quantiles import moments
from deniable.streams.counting.promise import Promise
from deniable.streams.counting.spread import Spread


@dataclass(frozen=True, slots=True)
class BinaryTree:
    """A segment of `length` steps under one tree, at a pure epsilon.

    >>> design = BinaryTree(7, Promise(), Fraction(1))
    >>> design.heights, design.noise.scale, [node for node in nodes_of(0, 6)]
    (3, Fraction(3, 1), [(2, 0), (1, 2)])
    """

    length: int
    promise: Promise
    epsilon: Fraction

    @property
    def heights(self) -> int:
        """The number of heights: one event is in one node of each."""
        return self.length.bit_length()

    @property
    def noise(self) -> LaplaceNoise:
        """The noise on each released number: the whole segment costs epsilon."""
        return LaplaceNoise(self.heights * self.promise.l1 / self.epsilon)

    def begin(self) -> "TreeSums":
        return TreeSums(self)

    def spread(self, steps: int, last: int | None = None) -> Spread:
        """The error of the sum of all steps, or of the `last` ones, after a number of steps."""
        variance, fourth = moments(self.noise)
        first = 0 if last is None else max(0, steps - last)
        shares = [_node_shares(height) for height, _ in nodes_of(first, steps)]
        return Spread(
            variance * sum(share for share, _ in shares),
            fourth * sum(share for _, share in shares),
        )


class TreeSums:
    """The numbers of one segment: secret sums of open nodes, and estimates of closed ones."""

    def __init__(self, design: BinaryTree) -> None:
        self.design, self.steps = design, 0
        self._open = [0] * design.heights  # by height: the sum of the node that is open
        self._estimates: list[list[float]] = [[] for _ in range(design.heights)]

    def add(self, value: int) -> tuple[int, ...]:
        """Ends a step: draws the noise of the nodes that end with it, and returns these."""
        sums = self._end_step(value)
        noise = self.design.noise.draw(len(sums))
        released = tuple(exact + int(z) for exact, z in zip(sums, noise, strict=True))
        self._keep(released)
        return released

    def restore(self, value: int, released: tuple[int, ...]) -> None:
        """Ends a step whose noise was drawn before."""
        self._end_step(value)
        self._keep(released)

    def estimate(self, last: int | None = None) -> float:
        """The sum of all steps, or of the last ones: post-processing."""
        first = 0 if last is None else max(0, self.steps - last)
        nodes = nodes_of(first, self.steps)
        return sum(self._estimates[height][place] for height, place in nodes)

    def _end_step(self, value: int) -> list[int]:
        """The exact sums of the nodes that end now, from the smallest to the largest."""
        self.steps += 1
        ends = min((self.steps & -self.steps).bit_length(), self.design.heights)
        self._open = [exact + value for exact in self._open]
        sums = self._open[:ends]
        self._open[:ends] = [0] * ends
        return sums

    def _keep(self, released: tuple[int, ...]) -> None:
        for height, number in enumerate(released):
            own, estimate = node_weight(height), float(number)
            if height:
                halves = sum(self._estimates[height - 1][-2:])
                estimate = own * number + (1 - own) * halves
            self._estimates[height].append(estimate)


def nodes_of(first: int, end: int) -> Iterator[tuple[int, int]]:
    """The fewest nodes (height, place) whose steps are first, ..., end - 1.

    >>> list(nodes_of(3, 8))
    [(0, 3), (2, 1)]
    """
    while first < end:
        fits = (end - first).bit_length() - 1
        height = min(fits, (first & -first).bit_length() - 1) if first else fits
        yield height, first >> height
        first += 1 << height


@lru_cache(maxsize=64)
def node_weight(height: int) -> float:
    """The weight of a node's own number; also its estimate's share of one number's variance.

    >>> node_weight(0), round(node_weight(1), 4), round(node_weight(30), 4)
    (1.0, 0.6667, 0.5)
    """
    if not height:
        return 1.0
    below = 2 * node_weight(height - 1)
    return below / (1 + below)


@lru_cache(maxsize=64)
def _node_shares(height: int) -> tuple[float, float]:
    """Variance and fourth cumulant of a node's estimate, in those of one number."""
    if not height:
        return 1.0, 1.0
    own, (_, fourth) = node_weight(height), _node_shares(height - 1)
    return own, own**4 + 2 * (1 - own) ** 4 * fourth
