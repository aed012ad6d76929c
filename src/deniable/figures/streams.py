"""Figures of streams: a year of counts with their band, and what bandits miss."""

from collections.abc import Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deniable.figures.canvas import COLOURS, QUIET, canvas
from deniable.policy import Policy, Table
from deniable.price import bandit_regret
from deniable.streams.bandits.bandit import Bandit
from deniable.streams.bandits.simulation import simulate_bandit
from deniable.streams.counters.reading import shown_margin
from deniable.streams.counters.stream_price import price_counter
from deniable.streams.counting.promise import Promise
from deniable.streams.counting.square_root import SquareRoot
from deniable.streams.watching.watched import WatchedSteps

LEVEL = Fraction(19, 20)
_WEEKS = 52


def watched(steps: WatchedSteps, truth: object = None) -> Figure:
    """The numbers of all steps above, and their sum below, each with its band.

    >>> figure = watched(clinic_year())
    >>> len(figure.axes)
    2
    """
    figure, axes = canvas(f"{steps.output} by {steps.column}", x="", y="each step")
    figure.set_size_inches(6.4, 5.4)
    grid = figure.add_gridspec(2, 1)
    axes.set_subplotspec(grid[0])
    sums = figure.add_subplot(grid[1], sharex=axes)
    _draw_band(axes, steps.days, steps.values, steps.margins)
    _draw_band(sums, steps.days, steps.totals, steps.total_margins)
    sums.set_ylabel("sum so far" if steps.window is None else f"last {steps.window} steps")
    sums.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    sums.tick_params(colors=QUIET)
    sums.set_axisbelow(True)
    for side, spine in sums.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(QUIET)
    axes.tick_params(labelbottom=False)
    if truth is not None:
        exact = np.asarray(truth, float)
        axes.plot(_dates(steps.days), exact, ".", color=COLOURS[1], label="the truth")
        axes.legend(loc="lower right")
        sums.plot(_dates(steps.days), np.cumsum(exact), ".", markersize=3, color=COLOURS[1])
    return figure


def _draw_band(axes: Axes, days: Sequence[date], values: Any, margins: Any) -> None:
    middle, half = np.array(values, float), np.array(margins, float)
    low, high = middle - half, middle + half
    axes.fill_between(_dates(days), low, high, color=COLOURS[5], alpha=0.4, linewidth=0)
    axes.plot(_dates(days), middle, color=COLOURS[0], linewidth=1.2)


def _dates(days: Sequence[date]) -> Any:
    return np.array(days, "datetime64[D]")


def clinic_truth() -> Any:
    """Made-up visits of a small clinic in each week of a year: fewer in summer."""
    weeks = np.arange(_WEEKS)
    usual = 60 + 30 * np.cos(2 * np.pi * (weeks - 4) / _WEEKS)
    return np.random.default_rng(2026).poisson(usual)


def clinic_year() -> WatchedSteps:
    """A year of a made-up clinic's counts at epsilon 1, with noise from a seed: a picture."""
    policy = Policy([Table("visits")], epsilon=1, delta=Fraction(1, 10**6))
    design = price_counter(policy, Promise(), _WEEKS, {"epsilon": 1}).design
    segment = design.segment(0)
    assert isinstance(segment, SquareRoot)
    chance, truth = np.random.default_rng(6), clinic_truth()
    noise = chance.normal(0, float(segment.noise.variance) ** 0.5, _WEEKS)
    values, totals, steps = [], [], range(1, _WEEKS + 1)
    for step in steps:
        own = float(np.sum(segment.weights(step, 1) * noise[:step]))
        both = float(np.sum(segment.weights(step) * noise[:step]))
        values.append(round(int(truth[step - 1]) + own))
        totals.append(round(int(truth[:step].sum()) + both))
    return WatchedSteps(
        column="week",
        output="visits",
        days=tuple(date(2026, 1, 1) + timedelta(weeks=step - 1) for step in steps),
        values=tuple(values),
        margins=tuple(shown_margin(design.step_spread(step), LEVEL) for step in steps),
        totals=tuple(totals),
        total_margins=tuple(shown_margin(design.sum_spread(step), LEVEL) for step in steps),
        window=None,
        confidence=LEVEL,
        promise=str(design.promise),
        remaining="",
    )


def regret(
    means: tuple[float, ...] = (0.75, 0.7, 0.7, 0.7, 0.7),
    *,
    horizon: int = 10**6,
    epsilon: float = 0.1,
    runs: int = 20,
) -> Figure:
    """The regret of bandits over time: private and not, with the bounds.

    >>> figure = regret((0.9, 0.4), horizon=2000, epsilon=1, runs=3)
    """
    title = f"Reward that bandits miss, {len(means)} arms, epsilon {epsilon:g}"
    figure, axes = canvas(title, x="thousand choices", y="missed, mean of runs")
    shapes = {
        ("elimination", epsilon): ("elimination, private", COLOURS[1], "-"),
        ("elimination", None): ("elimination, not private", COLOURS[1], ":"),
        ("episodes", epsilon): ("episodes, private", COLOURS[0], "-"),
        ("episodes", None): ("episodes, not private", COLOURS[0], ":"),
    }
    highest = 0.0
    for (method, price), (label, colour, line) in shapes.items():
        simulation = simulate_bandit(
            means, horizon=horizon, epsilon=price, runs=runs, method=method, seeded=True
        )
        mean = simulation.curves.mean(axis=0)
        highest = max(highest, float(mean[-1]))
        axes.plot(simulation.times / 1000, mean, label=label, color=colour, linestyle=line)
    bandit = Bandit(len(means), epsilon=epsilon, method="elimination", horizon=horizon)
    bound = bandit.regret_bound(means, horizon)
    times = np.linspace(2, horizon, 200)
    least = [bandit_regret(means, horizon=int(t), epsilon=epsilon).value for t in times]
    axes.plot(times / 1000, least, color=QUIET, linewidth=1.0, label="any private bandit: more")
    note = f"proven for elimination: at most {bound:,.0f}"
    if bound <= 1.5 * highest:
        axes.axhline(bound, color=QUIET, linestyle="--", linewidth=1.0, label=note)
    else:
        axes.plot([], [], " ", label=note)
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure
