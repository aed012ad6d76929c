"""The noise for each block: the budget is split so that margins come out even.

A block's difficulty is the largest margin among its aggregates, at one unit of budget, over
that aggregate's public range. Laplace margins shrink with epsilon, so epsilon is shared in
proportion to difficulty. Gaussian margins shrink with mu, and the squares of mu add up. The
kind of noise with the smaller margins is taken; Gaussian noise needs a delta.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.rationals import positive
from deniable.mechanisms import Gaussian, Laplace, Thresholding
from deniable.privacy import GaussianLoss
from deniable.query.language.expressions import aggregates_in
from deniable.query.language.syntax_tree import Aggregate
from deniable.query.margins.linear_forms import features_of
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.rough_margins import rough_margin
from deniable.query.plan.plan import (
    Block,
    Chosen,
    Feature,
)
from deniable.query.planner.choices import difficulty
from deniable.query.planner.draft import TYPICAL_ROWS, Draft
from deniable.query.statements.statistics import Statistic, root_up

_PARTS = 1000  # shares are whole thousandths


def split_budget(draft: Draft) -> None:
    """A step of the planner: the least noise that the request allows."""
    request, private = draft.request, draft.private
    parts = len(draft.statistics) + len(draft.unpriced)
    key_share = Fraction(1, 1 + parts) if private else Fraction(0)
    epsilon = request.epsilon * (1 - key_share)
    block_weights, choice_weights = _weights(draft)
    hard = [
        difficulty(choice, draft) * float(weight)
        for choice, weight in zip(draft.unpriced, choice_weights, strict=True)
    ]
    gaussian = False
    if draft.statistics:
        gaussian = _split_among_blocks(draft, epsilon, hard, block_weights)
    elif hard:
        draft.choice_epsilons = tuple(epsilon * share for share in shares(hard))
    if private:
        draft.thresholding = Thresholding(
            epsilon=request.epsilon * key_share,
            delta=request.delta / 2 if gaussian else request.delta,
            groups=draft.groups,
            neighbors=draft.table.neighbors,
        )
    draft.delta = request.delta if private or gaussian else Fraction(0)


def _split_among_blocks(
    draft: Draft, epsilon: Fraction, hard: list[float], weights: list[Fraction]
) -> bool:
    """Sets the blocks and what each choice may cost; returns whether the noise is Gaussian.

    `hard` is how difficult each choice is.
    """
    sensitivities = _sensitivities(draft)
    unit_noise = [Laplace(epsilon=1, sensitivity=l1) for l1, _ in sensitivities]
    hard_blocks = _difficulties(draft, weights, unit_noise)
    if hard:
        parts = shares([*hard_blocks, *hard])[len(hard_blocks) :]
        draft.choice_epsilons = tuple(epsilon * part for part in parts)
        epsilon -= sum(draft.choice_epsilons)
    noise = _laplace(hard_blocks, [l1 for l1, _ in sensitivities], epsilon)
    margin = sum(hard_blocks) / float(epsilon)
    gaussian = False
    delta = draft.request.delta / (2 if draft.private else 1)
    if delta > 0:
        squares = [square for _, square in sensitivities]
        other_noise, other_margin = _gaussian(draft, weights, squares, epsilon, delta)
        if other_margin < margin:
            noise, gaussian = other_noise, True
    draft.blocks = tuple(
        Block(part.feature_names(i), describe(part), mechanism, reach=part.contribution)
        for i, (part, mechanism) in enumerate(zip(draft.statistics, noise, strict=True))
    )
    return gaussian


def _sensitivities(draft: Draft) -> list[tuple[int, int]]:
    """L1, and the square of L2, for each statistic."""
    limits, level = draft.limits, draft.request.level
    assert limits is not None
    sensitivities = [
        statistic.contribution.sensitivities(
            groups=limits.groups,
            rows=limits.rows,
            neighbors=draft.table.neighbors,
            keyed=bool(draft.keys if level is None else level),
            most_rows=limits.whole,
        )
        for statistic in draft.statistics
    ]
    if draft.request.other:  # a unit's groups may all end up in `other`, where they add up
        sensitivities = [(l1, l1**2) for l1, _ in sensitivities]
    return sensitivities


def _difficulties(
    draft: Draft, weights: Sequence[Fraction], mechanisms: Sequence[Laplace | Gaussian]
) -> list[float]:
    """Each block's largest margin over the range of its aggregate, times its weight."""
    rows = float(draft.table.expected_rows or TYPICAL_ROWS)
    blocks = [
        Block(statistic.feature_names(i), "", mechanism)
        for i, (statistic, mechanism) in enumerate(
            zip(draft.statistics, mechanisms, strict=True)
        )
    ]
    features = expected_features(draft.statistics, rows)
    noises = noise_of_features(blocks, None)
    largest = [0.0] * len(blocks)
    for aggregate, node in draft.nodes.items():
        places = {feature.block for feature in features_of(node).values()}
        if len(places) != 1 or -1 in places:
            continue
        place = places.pop()
        margin = rough_margin(node, noises, features, draft.request.confidence)
        size = _range(aggregate, draft.statistics[place], rows)
        # Where the noise leaves nothing known, the margin is the whole range.
        share = margin / size if np.isfinite(margin) else 1.0
        largest[place] = max(largest[place], share)
    return [
        (share or 1 / rows) * float(weight)
        for share, weight in zip(largest, weights, strict=True)
    ]


def _laplace(
    difficulties: Sequence[float], sensitivities: Sequence[int], epsilon: Fraction
) -> list[Laplace | Gaussian]:
    """Laplace noise for all blocks."""
    return [
        Laplace(epsilon=epsilon * share, sensitivity=l1)
        for share, l1 in zip(shares(difficulties), sensitivities, strict=True)
    ]


def _gaussian(
    draft: Draft,
    weights: Sequence[Fraction],
    squares: Sequence[int],
    epsilon: Fraction,
    delta: Fraction,
) -> tuple[list[Laplace | Gaussian], float]:
    """Gaussian noise for all blocks, and the margin that they share."""
    sensitivities = [root_up(square) for square in squares]
    mu_squared = GaussianLoss.calibrated(epsilon=epsilon, delta=delta).mu_squared
    hard = _difficulties(
        draft, weights, [Gaussian(mu=1, sensitivity=l2) for l2 in sensitivities]
    )
    hard_squared = [difficulty**2 for difficulty in hard]
    noise: list[Laplace | Gaussian] = [
        Gaussian(variance=l2**2 / (mu_squared * share), sensitivity=l2)
        for share, l2 in zip(shares(hard_squared), sensitivities, strict=True)
    ]
    return noise, float(np.sqrt(sum(hard_squared) / float(mu_squared)))


def shares(sizes: Sequence[float]) -> list[Fraction]:
    """Parts of one in proportion to sizes, in whole thousandths and none of them zero.

    >>> shares([2.0, 2.0, 2.0])
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    >>> shares([3.0, 1.0])
    [Fraction(3, 4), Fraction(1, 4)]
    """
    if max(sizes) <= min(sizes) * 1.005:
        return [Fraction(1, len(sizes))] * len(sizes)
    parts = [max(1, round(size / sum(sizes) * _PARTS)) for size in sizes]
    return [Fraction(part, sum(parts)) for part in parts]


def expected_features(statistics: Sequence[Statistic], rows: float) -> dict[str, np.ndarray]:
    """The features of a group of this many rows, whose values are spread between the limits."""
    features: dict[str, np.ndarray] = {}
    for i, statistic in enumerate(statistics):
        width, size, bins = statistic.width, statistic.size, len(statistic.bins)
        per_row = {
            "mean": [width / 2, width / 2],
            "moments": [width**2 / 3] * 3,
            "sum": [(statistic.low + statistic.high) / 2],
            "distinct sum": [(statistic.low + statistic.high) / 2],
            "histogram": [1 / max(1, bins)] * bins,
            "pair": [statistic.total / size] * size,
        }.get(statistic.kind, [1.0])
        per_row += [0.0] * statistic.unknown
        for name, value in zip(statistic.feature_names(i), per_row, strict=True):
            features[name] = np.array([value * rows])
    return features


def _range(aggregate: Aggregate, statistic: Statistic, rows: float) -> float:
    """The public range of an aggregate over this many rows."""
    width = float(statistic.width * statistic.step)
    if statistic.second is not None:
        other = float(statistic.second.width * statistic.second.step)
        sizes = {"corr": 2.0, "regr_slope": width / other, "regr_intercept": width}
        return sizes.get(aggregate.name, width * other / 4)
    if aggregate.name.startswith("count") or aggregate.name == "histogram":
        return rows
    if aggregate.name in ("sum", "sum_distinct"):
        return rows * float(max(1, abs(statistic.low), abs(statistic.high)) * statistic.step)
    if aggregate.name == "avg":
        return width
    return width / 2 if aggregate.name.startswith("stddev") else width**2 / 4


def _weights(draft: Draft) -> tuple[list[Fraction], list[Fraction]]:
    """For each block and choice the greatest weight among the outputs that it serves."""
    outputs = {named.name: named.expression for named in draft.question.outputs}
    blocks = [Fraction(1)] * len(draft.statistics)
    choices = [Fraction(1)] * len(draft.unpriced)
    for name, weight in draft.request.weights.items():
        if name not in outputs:
            raise InvalidParameter(
                f"`weights` names {name}, which is not an output. Outputs: "
                f"{', '.join(outputs)}."
            )
        exact = positive(weight, f"weights[{name}]")
        for aggregate in aggregates_in(outputs[name]):
            node = draft.nodes.get(aggregate, Feature("", -1))
            for feature in features_of(node).values():
                if feature.block >= 0:
                    blocks[feature.block] = max(blocks[feature.block], exact)
            if isinstance(node, Chosen):
                choices[node.choice] = max(choices[node.choice], exact)
    return blocks, choices


def describe(statistic: Statistic) -> str:
    """What a block measures, as `explain` shows it."""
    argument, second = statistic.argument, statistic.second
    text = {
        "count": "rows",
        "units": "units",
        "pair": f"means and products of {argument} and {second and second.argument}",
        "distinct": f"distinct values of {argument}",
        "present": f"rows with {argument}",
        "distinct sum": f"sum of the distinct values of {argument}",
        "sum": f"sum of {argument}",
        "mean": f"count, sum and mean of {argument}",
        "moments": f"count, mean and variance of {argument}",
        "histogram": f"histogram of {argument}",
    }[statistic.kind]
    return f"rows; {text}" if statistic.unknown else text
