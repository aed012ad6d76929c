"""Figures of losses: trade-off curves, delta over epsilon, growth under composition."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational
from deniable.figures.canvas import QUIET, canvas
from deniable.privacy import Composition, Loss

_POINTS = 81


def tradeoff(losses: Mapping[str, Loss]) -> Figure:
    """False alarms against misses, for the best test of "was this person in the data?".

    The closer a curve is to the dotted line, the closer the test is to guessing.

    >>> from deniable.privacy import PureLoss
    >>> figure = tradeoff({"epsilon 1": PureLoss(1)})
    """
    figure, axes = canvas(
        "How well can anyone tell whether you are in the data?",
        x="false alarms: people who are not in the data, but named",
        y="misses: people who are in the data, but not named",
        size=(5.2, 5.0),
    )
    axes.plot([0, 1], [1, 0], color=QUIET, linestyle=":", label="guessing")
    for name, loss in _require_losses(losses).items():
        alphas = sorted([*_false_alarm_rates(), *_corner(loss)])
        axes.plot(alphas, _misses(loss, alphas), label=name)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.legend(loc="upper right")
    return figure


def _corner(loss: Loss) -> list[float]:
    """Where false alarms and misses are equally frequent: the corner of a pure loss. A
    composition bends in many places, and is slow to ask."""
    if isinstance(loss, Composition):
        return []
    low, high = 0.0, 0.5
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if loss.tradeoff(middle) > middle else (low, middle)
    return [high]


def deltas(losses: Mapping[str, Loss], *, up_to: float | None = None) -> Figure:
    """The least delta at every epsilon, on a logarithmic scale.

    >>> from deniable.privacy import PureLoss
    >>> figure = deltas({"ten releases": PureLoss(0.1) * 10})
    """
    figure, axes = canvas("The least delta at each epsilon", x="epsilon", y="delta")
    checked = _require_losses(losses)
    far = up_to or 1.05 * max(loss.epsilon(1e-12) for loss in checked.values())
    epsilons = np.linspace(0, far, _POINTS).tolist()
    for name, loss in checked.items():
        values = [loss.delta(epsilon) for epsilon in epsilons]
        axes.plot(epsilons, [delta if delta > 0 else np.nan for delta in values], label=name)
    axes.set_yscale("log")
    axes.set(xlim=(0, far), ylim=(1e-12, 1))
    axes.legend(loc="upper right")
    return figure


def growth(
    losses: Mapping[str, Loss], *, delta: Number, counts: Sequence[int] = (1, 2, 5, 10, 20, 50)
) -> Figure:
    """The epsilon of many such releases together, and the plain sum for comparison.

    >>> from deniable.privacy import PureLoss
    >>> figure = growth({"epsilon 0.1": PureLoss(0.1)}, delta=1e-6, counts=(1, 10, 100))
    """
    figure, axes = canvas(
        f"What many releases cost together (delta {float(delta):g})",
        x="releases",
        y="epsilon",
    )
    total = rational(delta, "delta")
    for name, loss in _require_losses(losses).items():
        costs = [(loss * count).epsilon(delta) for count in counts]
        (line,) = axes.plot(list(counts), costs, marker=".", label=name)
        sums = [count * loss.epsilon(total / count) for count in counts]
        axes.plot(list(counts), sums, color=line.get_color(), linestyle=":")
    axes.plot([], [], color=QUIET, linestyle=":", label="plain sum")
    axes.set(xscale="log", yscale="log")
    axes.legend(loc="upper left")
    return figure


def _require_losses(losses: Mapping[str, Loss]) -> Mapping[str, Loss]:
    if not losses:
        raise InvalidParameter("`losses` must hold at least one loss. Found none.")
    return losses


def _misses(loss: Loss, alphas: list[float]) -> list[float]:
    """The trade-off at every false-alarm rate. For a composition it is a lower bound, from the
    lines that belong to `_POINTS` values of epsilon."""
    if not isinstance(loss, Composition):
        return [loss.tradeoff(alpha) for alpha in alphas]
    epsilons = np.linspace(0, loss.epsilon(1e-6), _POINTS)
    left = 1 - np.array([loss.delta(epsilon) for epsilon in epsilons.tolist()])
    rates = np.array(alphas)[:, None]
    steep = left - np.exp(epsilons) * rates
    flat = (left - rates) * np.exp(-epsilons)
    misses: list[float] = np.maximum(np.maximum(steep, flat).max(axis=1), 0).tolist()
    return misses


def _false_alarm_rates() -> list[float]:
    """False-alarm rates from 0 to 1, closer together at the ends, where curves bend most."""
    angles = np.linspace(0, np.pi, _POINTS)
    return [0.0, *((1 - np.cos(angles[1:-1])) / 2).tolist(), 1.0]
