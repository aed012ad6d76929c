"""A private density as a curve, with a band for the margin of its noise."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from deniable.exact.rationals import Number
from deniable.figures.canvas import QUIET, canvas
from deniable.mechanisms import Density, ReleasedDensity


def density(
    released: ReleasedDensity,
    *,
    margin: float | None = None,
    x: str = "value",
    data: Any = None,
) -> Figure:
    """The curve, and around it a band of `margin`.

    `data` adds a histogram of the true values. Use it only for made-up data: it shows the
    values without noise.

    >>> mechanism = Density(epsilon=1, bounds=(0, 9), neighbors="replace", terms=3)
    >>> figure = density(mechanism.release([3, 4, 4, 5]), margin=0.02)
    """
    figure, axes = canvas("A private density", x=x, y="density")
    places = np.array([released.grid.value(k) for k in range(released.grid.size)], dtype=float)
    if data is not None:
        axes.hist(data, bins=60, density=True, color=QUIET, alpha=0.3, label="the data")
    (line,) = axes.plot(places, released.heights, label=f"released, {released.terms} terms")
    if margin is not None:
        low, high = np.maximum(released.heights - margin, 0), released.heights + margin
        axes.fill_between(
            places, low, high, color=line.get_color(), alpha=0.2, label="margin of its noise"
        )
    axes.set(xlim=(places[0], places[-1]), ylim=(0, None))
    axes.legend(loc="upper left", frameon=False)
    return figure


def example_density(*, epsilon: Number = 1, rows: int = 5000) -> Figure:
    """A made-up column with two peaks, and its private density."""
    generator = np.random.default_rng(4)
    peaks = generator.normal(45, 7, rows), generator.normal(70, 5, rows)
    data = np.where(generator.random(rows) < 0.6, *peaks)
    mechanism = Density(epsilon=epsilon, bounds=(0, 100), neighbors="add-remove", rows=rows)
    margin = mechanism.margin(0.9, rows=rows)
    return density(mechanism.release(data), margin=margin, x="made-up value", data=data)
