"""The figure of a private copy: the error of each pair of columns, and bars of each column."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deniable.figures.canvas import canvas
from deniable.synth.copies.measuring import MeasuredTable
from deniable.synth.copies.table_copy import TableCopy

_ACROSS = 5  # columns whose bars stand side by side
_NUMBERED = 12  # up to this many columns, errors are written into the cells


def errors(copy: TableCopy) -> Figure:
    """A matrix of the scored pairs, and bars of every column: the copy's rows in each cell
    beside the noisy measurement.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> people = pa.table({"old": [True, False] * 50, "sick": [True, False] * 50})
    >>> figure = errors(dp.protect(people, epsilon=1, delta=1e-6).copy(epsilon=1))
    """
    names = list(copy.plan.columns)
    single = {
        measurement.columns[0]: measurement
        for measurement in copy.measured
        if len(measurement.columns) == 1
    }
    side = 2.4 + 0.35 * len(names)
    lines = -(-len(single) // _ACROSS)
    about = f"Errors of a copy of {copy.plan.table.name}"
    figure, axes = canvas(about, x="", y="", size=(max(7.0, side + 0.8), side + 1.5 * lines))
    grid = figure.add_gridspec(2, 1, height_ratios=[side, 1.5 * lines])
    axes.set_subplotspec(grid[0])
    _draw_matrix(figure, axes, copy, names)
    below = grid[1].subgridspec(lines, _ACROSS)
    for place, (name, measured_table) in enumerate(single.items()):
        own = figure.add_subplot(below[place // _ACROSS, place % _ACROSS])
        _draw_bars(own, name, measured_table, copy)
    caption = "bars: rows of the copy in each cell; points: the noisy measurements"
    figure.supxlabel(caption, fontsize=7)
    return figure


def _draw_matrix(figure: Figure, axes: Axes, copy: TableCopy, names: list[str]) -> None:
    """Dark cells are far from the table. Empty: not scored."""
    matrix = np.full((len(names), len(names)), np.nan)
    for score in copy.scorecard.errors:
        if len(score.columns) <= 2:
            places = names.index(score.columns[0]), names.index(score.columns[-1])
            matrix[places] = matrix[places[::-1]] = score.error
    image = axes.imshow(matrix, cmap="Blues", vmin=0.0)
    figure.colorbar(image, ax=axes, label="0: equal, 2: nothing in common")
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(names)), names)
    axes.grid(visible=False)
    middle = np.nanmax(matrix) / 2 if np.isfinite(matrix).any() else 1.0
    for (row, column), error in np.ndenumerate(matrix):
        if len(names) <= _NUMBERED and np.isfinite(error):
            colour = "white" if error > middle else "black"
            text = f"{error:.2f}"
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=7)


def _draw_bars(axes: Axes, name: str, measured_table: MeasuredTable, copy: TableCopy) -> None:
    """The rows of the copy in each cell of a column, scaled to the table, as bars; the noisy
    measurements as points."""
    places = np.arange(measured_table.counts.size)
    scale = max(copy.total, 0.0) / max(1, len(copy))
    axes.bar(places, copy.count_cells(name) * scale, color="tab:blue", alpha=0.6, label="copy")
    axes.plot(places, measured_table.counts, "k.", markersize=3, label="measured")
    axes.set_title(name, fontsize=7)
    axes.tick_params(labelsize=5)
    axes.set_xticks([])
