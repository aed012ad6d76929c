"""The noise for each block: the budget split so that margins come out even, at least noise.

A block's difficulty is the largest margin among its aggregates, at one unit of budget, over
that aggregate's public range. Laplace margins shrink with epsilon, so epsilon is shared in
proportion to difficulty; Gaussian ones with mu, of which the squares add up. Of the two kinds
of noise the one with the smaller margins is taken; the Gaussian needs a delta.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive
from deniable.mechanisms import Gaussian, Laplace, Thresholding
from deniable.policy import Table
from deniable.privacy import GaussianLoss
from deniable.query.language.expressions import Aggregate, aggregates
from deniable.query.language.question import Question
from deniable.query.margins.margins import laws_of, margins
from deniable.query.plan.plan import (
    Block,
    Chosen,
    Feature,
    GroupKey,
    Node,
    Operation,
)
from deniable.query.statements.features import names
from deniable.query.statements.statistics import Statistic, root_up

TYPICAL_ROWS = 10_000  # in a group, where the policy expects none
_FINEST = 1000  # shares are whole thousandths


class Wanted(Protocol):
    """The part of a request that the price depends on."""

    @property
    def epsilon(self) -> Fraction: ...
    @property
    def delta(self) -> Fraction: ...
    @property
    def confidence(self) -> Fraction: ...
    @property
    def weights(self) -> Mapping[str, Number]: ...
    @property
    def other(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Priced:
    """Blocks with their noise, the choice of keys, and what of delta they take."""

    blocks: tuple[Block, ...]
    thresholding: Thresholding | None
    delta: Fraction
    choices: tuple[Fraction, ...] = ()  # what each choice may cost


def priced(
    statistics: Sequence[Statistic],
    nodes: Mapping[Aggregate, Node],
    question: Question,
    keys: Sequence[GroupKey],
    groups: int,
    table: Table,
    wanted: Wanted,
    choosing: Sequence[float] = (),
) -> Priced:
    """The least noise that the request allows; `choosing` is how difficult each choice is."""
    private = any(key.values is None for key in keys)
    parts = len(statistics) + len(choosing)
    share = Fraction(1, 1 + parts) if private else Fraction(0)
    thresholding = None
    if private:
        delta = wanted.delta / 2 if statistics else wanted.delta
        thresholding = Thresholding(
            epsilon=wanted.epsilon * share,
            delta=delta,
            groups=groups,
            neighbors=table.neighbors,
        )
    weights, chosen_weights = _weights(
        len(statistics), len(choosing), nodes, question, wanted.weights
    )
    hard = [one * float(weight) for one, weight in zip(choosing, chosen_weights, strict=True)]
    left, spare = wanted.epsilon * (1 - share), wanted.delta / (2 if private else 1)
    if not statistics:
        alone = tuple(left * part for part in shares(hard)) if hard else ()
        return Priced((), thresholding, wanted.delta if private else Fraction(0), alone)
    sizes = [
        one.sensitivities(
            groups=groups,
            rows=table.max_rows_per_unit_per_group,
            neighbors=table.neighbors,
            keyed=bool(keys),
        )
        for one in statistics
    ]
    if wanted.other:  # a unit's groups may all end up in one, where they add up
        sizes = [(l1, l1**2) for l1, _ in sizes]
    ask = _Ask(statistics, nodes, table, wanted.confidence, weights)
    choices: tuple[Fraction, ...] = ()
    if hard:
        noisy = ask.difficulties([Laplace(epsilon=1, sensitivity=l1) for l1, _ in sizes])
        choices = tuple(left * part for part in shares([*noisy, *hard])[len(noisy) :])
        left -= sum(choices)
    plain, level = _laplace(ask, [l1 for l1, _ in sizes], left)
    noise, gaussian = plain, False
    if spare > 0:
        curved, other = _gaussian(ask, [square for _, square in sizes], left, spare)
        if other < level:
            noise, gaussian = curved, True
    blocks = tuple(
        Block(tuple(names(i, one)), about(one), mechanism, reach=one.reach)
        for i, (one, mechanism) in enumerate(zip(statistics, noise, strict=True))
    )
    if private and not gaussian:  # then all of delta serves the keys
        assert thresholding is not None
        thresholding = Thresholding(
            epsilon=thresholding.epsilon,
            delta=wanted.delta,
            groups=groups,
            neighbors=table.neighbors,
        )
    delta = wanted.delta if private or gaussian else Fraction(0)
    return Priced(blocks, thresholding, delta, choices)


@dataclass(frozen=True, slots=True)
class _Ask:
    statistics: Sequence[Statistic]
    nodes: Mapping[Aggregate, Node]
    table: Table
    confidence: Fraction
    weights: Sequence[Fraction]

    def difficulties(self, mechanisms: Sequence[Laplace | Gaussian]) -> list[float]:
        """Each block's largest margin over the range of its aggregate, times its weight."""
        rows = float(self.table.expected_rows or TYPICAL_ROWS)
        blocks = [
            Block(tuple(names(i, one)), "", mechanism)
            for i, (one, mechanism) in enumerate(zip(self.statistics, mechanisms, strict=True))
        ]
        features = expected(self.statistics, rows)
        laws = laws_of(blocks, None)
        found = [0.0] * len(blocks)
        for aggregate, node in self.nodes.items():
            places = {one.block for one in features_of(node)}
            if len(places) != 1 or -1 in places:
                continue
            place = places.pop()
            margin = margins(node, laws, features, confidence=self.confidence)
            size = _range(aggregate, self.statistics[place], rows)
            # Noise so wide that nothing is known leaves all of the range.
            wide = float(margin[0]) / size if np.isfinite(margin[0]) else 1.0
            found[place] = max(found[place], wide)
        return [
            (difficulty or 1 / rows) * float(weight)
            for difficulty, weight in zip(found, self.weights, strict=True)
        ]


def _laplace(
    ask: _Ask, reaches: Sequence[int], epsilon: Fraction
) -> tuple[list[Laplace | Gaussian], float]:
    hard = ask.difficulties([Laplace(epsilon=1, sensitivity=reach) for reach in reaches])
    made: list[Laplace | Gaussian] = [
        Laplace(epsilon=epsilon * share, sensitivity=reach)
        for share, reach in zip(shares(hard), reaches, strict=True)
    ]
    return made, sum(hard) / float(epsilon)


def _gaussian(
    ask: _Ask, squares: Sequence[int], epsilon: Fraction, delta: Fraction
) -> tuple[list[Laplace | Gaussian], float]:
    reaches = [root_up(square) for square in squares]
    total = GaussianLoss.calibrated(epsilon=epsilon, delta=delta).mu_squared
    hard = ask.difficulties([Gaussian(mu=1, sensitivity=reach) for reach in reaches])
    made: list[Laplace | Gaussian] = [
        Gaussian(variance=reach**2 / (total * share), sensitivity=reach)
        for share, reach in zip(shares([one**2 for one in hard]), reaches, strict=True)
    ]
    return made, float(np.sqrt(sum(one**2 for one in hard) / float(total)))


def shares(sizes: Sequence[float]) -> list[Fraction]:
    """Parts of one in proportion to sizes, in whole thousandths and none of them zero.

    >>> shares([2.0, 2.0, 2.0])
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    >>> shares([3.0, 1.0])
    [Fraction(3, 4), Fraction(1, 4)]
    """
    if max(sizes) <= min(sizes) * 1.005:
        return [Fraction(1, len(sizes))] * len(sizes)
    parts = [max(1, round(one / sum(sizes) * _FINEST)) for one in sizes]
    return [Fraction(part, sum(parts)) for part in parts]


def expected(statistics: Sequence[Statistic], rows: float) -> dict[str, np.ndarray]:
    """What the features would be in a group of so many rows, spread between the limits."""
    found: dict[str, np.ndarray] = {}
    for i, one in enumerate(statistics):
        width = one.width
        halves = {
            "mean": [width / 2, width / 2],
            "moments": [width**2 / 3] * 3,
            "sum": [(one.low + one.high) / 2],
            "histogram": [1 / max(1, len(one.bins))] * len(one.bins),
            "pair": [one.total / one.size] * one.size,
        }.get(one.kind, [1.0])
        for name, value in zip(names(i, one), [*halves, *([0.0] * one.unknown)], strict=True):
            found[name] = np.array([value * rows])
    return found


def features_of(node: Node) -> set[Feature]:
    """The features that a node is computed from."""
    if isinstance(node, Feature):
        return {node}
    if isinstance(node, Operation):
        return {one for argument in node.arguments for one in features_of(argument)}
    return set()


def released(node: Node) -> bool:
    """Whether a node has anything in it that is noisy or chosen, and so a margin."""
    if isinstance(node, Operation):
        return any(released(one) for one in node.arguments)
    return isinstance(node, Feature | Chosen)


def _range(aggregate: Aggregate, statistic: Statistic, rows: float) -> float:
    """The public range of an aggregate over so many rows."""
    width = float(statistic.width * statistic.step)
    if statistic.beside is not None:
        other = float(statistic.beside.width * statistic.beside.step)
        sizes = {"corr": 2.0, "regr_slope": width / other, "regr_intercept": width}
        return sizes.get(aggregate.name, width * other / 4)
    if aggregate.name.startswith("count") or aggregate.name == "histogram":
        return rows
    if aggregate.name == "sum":
        return rows * float(max(1, abs(statistic.low), abs(statistic.high)) * statistic.step)
    if aggregate.name == "avg":
        return width
    return width / 2 if aggregate.name.startswith("stddev") else width**2 / 4


def _weights(
    blocks: int,
    choices: int,
    nodes: Mapping[Aggregate, Node],
    question: Question,
    weights: Mapping[str, Number],
) -> tuple[list[Fraction], list[Fraction]]:
    """For each block and choice the greatest weight among the outputs that it serves."""
    outputs = {one.name: one.expression for one in question.outputs}
    noisy, chosen = [Fraction(1)] * blocks, [Fraction(1)] * choices
    for name, weight in weights.items():
        if name not in outputs:
            raise InvalidParameter(
                f"`weights` names {name}, which is no output. Outputs: {', '.join(outputs)}."
            )
        exact = positive(weight, f"weights[{name}]")
        for aggregate in aggregates(outputs[name]):
            node = nodes.get(aggregate, Feature("", -1))
            for feature in features_of(node):
                if feature.block >= 0:
                    noisy[feature.block] = max(noisy[feature.block], exact)
            if isinstance(node, Chosen):
                chosen[node.choice] = max(chosen[node.choice], exact)
    return noisy, chosen


def about(statistic: Statistic) -> str:
    """A block in words."""
    what = {
        "count": "rows",
        "units": "units",
        "pair": f"means and products of {statistic.argument} and "
        f"{statistic.beside and statistic.beside.argument}",
        "distinct": f"distinct values of {statistic.argument}",
        "present": f"rows with {statistic.argument}",
        "sum": f"sum of {statistic.argument}",
        "mean": f"count, sum and mean of {statistic.argument}",
        "moments": f"count, mean and variance of {statistic.argument}",
        "histogram": f"histogram of {statistic.argument}",
    }[statistic.kind]
    return f"rows; {what}" if statistic.unknown else what
