"""Running sums with Laplace noise, for pure epsilon: the binary tree.

Node (h, i) is the sum of the steps from i 2**h to (i + 1) 2**h. It is released, with discrete
Laplace noise, when its last step ends. An event is in one node of each height, so it moves all
of them together by (number of heights) in the L1 norm, and the whole costs epsilon (Dwork,
Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011). Nodes are disjoint at each height, so
this holds for inputs that depend on the answers too: given the past, each node is one Laplace
release.

A sum of steps is a sum of few nodes. Each node is estimated from its own number and those of
all nodes below it, with the weights of least variance (Honaker 2015): the estimate of a node of
height h is a_h times its number plus 1 - a_h times its halves' estimates, with a_h = 2**h /
(2**(h + 1) - 1), and its variance is a_h times that of one number. So it is T_h / (2**(h + 1) -
1), where T_h is 2**h times its number plus the T_(h-1) of its halves: a whole number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.query.margins.noise_quantiles import moments
from deniable.streams.counting.promise import Promise
from deniable.streams.counting.spread import Spread
from deniable.streams.counting.tree_errors import NodeError


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
        first = 0 if last is None else max(0, steps - last)
        heights = sorted(height for height, _ in nodes_of(first, steps))
        share = float(sum(map(node_weight, heights)))
        nodes = tuple(NodeError(self.noise.scale, height) for height in heights)
        return Spread(moments(self.noise)[0] * share, nodes=nodes)


class TreeSums:
    """The numbers of one segment: secret sums of open nodes, and estimates of closed ones."""

    def __init__(self, design: BinaryTree) -> None:
        self.design, self.steps = design, 0
        self._open = [0] * design.heights  # by height: the sum of the node that is open
        self._closed: list[list[int]] = [[] for _ in range(design.heights)]  # T, by height

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

    def estimate(self, last: int | None = None) -> Fraction:
        """The sum of all steps, or of the last ones, without rounding: post-processing."""
        first = 0 if last is None else max(0, self.steps - last)
        total = Fraction(0)
        for height, place in nodes_of(first, self.steps):
            total += Fraction(self._closed[height][place], (2 << height) - 1)
        return total

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
            halves = sum(self._closed[height - 1][-2:]) if height else 0
            self._closed[height].append((number << height) + halves)


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


def node_weight(height: int) -> Fraction:
    """The weight of a node's own number; also its estimate's share of one number's variance.

    >>> [str(node_weight(height)) for height in range(4)]
    ['1', '2/3', '4/7', '8/15']
    """
    return Fraction(1 << height, (2 << height) - 1)
