"""The error of private quantiles: all methods, by the number released at once."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deniable.figures.canvas import COLOURS, STYLE, canvas
from deniable.mechanisms import Quantiles
from deniable.privacy import Neighbors

ROWS = 1000
TRIALS = 20
COUNTS = (1, 3, 9, 29, 60, 120)
METHODS = ("independent", "joint", "fixed-target", "recursive", "tree")
_LEAST = 0.1  # smaller errors are drawn here, because the scale is logarithmic
_MOST_JOINT = 60  # with more quantiles the joint methods are slow and inaccurate

Column = Callable[[np.random.Generator], NDArray[Any]]

LAWS: Mapping[str, tuple[Column, tuple[float, float], float]] = {
    "uniform on (−5, 5)": (lambda g: g.uniform(-5, 5, ROWS), (-100, 100), 0.01),
    "normal, deviation 5": (lambda g: g.normal(0, 5, ROWS), (-100, 100), 0.01),
    "log-normal": (lambda g: g.lognormal(1, 1, ROWS), (0, 200), 0.01),
    "ages, whole years": (
        lambda g: np.clip(g.gamma(4, 10, ROWS).astype(int), 0, 110),
        (0, 120),
        1,
    ),
    "half zeros": (
        lambda g: np.where(g.random(ROWS) < 0.5, 0.0, g.exponential(10, ROWS)),
        (-100, 100),
        0.01,
    ),
}


def comparison(*, epsilon: float = 1) -> Figure:
    """The mean rank error against the number of quantiles, for five distributions of the data.

    Five panels for add-remove neighbours, one for replace. Equal values share all their ranks.
    Means are over `TRIALS` columns of `ROWS` values.
    """
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        figure, first = canvas("", x="", y="", size=(10, 6.4))
        first.remove()
        panels = figure.subplots(2, 3, sharex=True, sharey=True).ravel()
        cases: list[tuple[str, Neighbors]] = [(law, "add-remove") for law in LAWS]
        cases.append((next(iter(LAWS)), "replace"))
        for axes, (law, relation) in zip(panels, cases, strict=True):
            _draw_panel(axes, law, relation, epsilon)
        for axes in panels[3:]:
            axes.set_xlabel("quantiles released at once")
        for axes in panels[::3]:
            axes.set_ylabel(f"mean rank error, of {ROWS} rows")
        panels[0].legend(loc="upper left")
        title = f"Private quantiles at epsilon {epsilon:g}: mean rank error"
        figure.suptitle(title, x=0.01, ha="left", weight="bold")
    return figure


def _draw_panel(axes: Axes, law: str, relation: Neighbors, epsilon: float) -> None:
    for method, colour in zip(METHODS, COLOURS, strict=False):
        counts = [m for m in COUNTS if _is_compared(method, m, relation)]
        errors = [rank_error(law, m, relation, method, epsilon) for m in counts]
        if counts:
            visible = np.maximum(errors, _LEAST)
            axes.plot(counts, visible, marker=".", color=colour, label=method)
    axes.set_title(f"{law}; {relation}", fontsize=9)
    axes.set(xscale="log", yscale="log", ylim=(_LEAST * 0.9, 400))
    axes.set_yticks([_LEAST, 1, 10, 100], [f"≤ {_LEAST:g}", "1", "10", "100"])
    axes.set_xticks(COUNTS, [str(m) for m in COUNTS])
    axes.set_xticks([], minor=True)


def _is_compared(method: str, count: int, relation: Neighbors) -> bool:
    if method == "fixed-target" and relation == "replace":
        return False
    return count <= _MOST_JOINT or method not in ("joint", "fixed-target")


def rank_error(
    law: str, count: int, relation: Neighbors, method: str, epsilon: float = 1
) -> float:
    """The mean over columns and quantiles of how many ranks a release is off."""
    draw, bounds, step = LAWS[law]
    mechanism = Quantiles(
        [Fraction(k, count + 1) for k in range(1, count + 1)],
        epsilon=epsilon,
        bounds=bounds,
        step=step,
        neighbors=relation,
        method=method,
    )
    generator = np.random.default_rng(count)  # the same columns for every method
    targets = np.array([float(q) * ROWS for q in mechanism.quantiles])
    errors = []
    for _ in range(TRIALS):
        column = draw(generator)
        released = mechanism.grid.nearest(np.array(mechanism.release(column).values))
        records = np.sort(mechanism.grid.nearest(column))
        less = np.searchsorted(records, released, side="left")
        most = np.searchsorted(records, released, side="right")
        missed = np.maximum(targets - most, less - targets)
        errors.append(float(np.maximum(missed, 0).mean()))
    return float(np.mean(errors))
