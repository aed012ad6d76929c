"""The figure of a private copy: how far each pair of its columns is from the table."""

import numpy as np
from matplotlib.figure import Figure

from deniable.figures.canvas import canvas
from deniable.synth.copies.table_copy import TableCopy

_NUMBERED = 12  # up to this many columns, errors are written into the cells


def errors(copy: TableCopy) -> Figure:
    """A matrix of the scored pairs: dark cells are far from the table. Empty: not scored.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> people = pa.table({"old": [True, False] * 50, "sick": [True, False] * 50})
    >>> figure = errors(dp.protect(people, epsilon=1, delta=1e-6).copy(epsilon=1))
    """
    names = list(copy.plan.columns)
    matrix = np.full((len(names), len(names)), np.nan)
    for one in copy.scorecard.errors:
        if len(one.columns) <= 2:
            places = names.index(one.columns[0]), names.index(one.columns[-1])
            matrix[places] = matrix[places[::-1]] = one.error
    side = 2.4 + 0.35 * len(names)
    about = f"Errors of a copy of {copy.plan.table.name}"
    figure, axes = canvas(about, x="", y="", size=(side + 0.8, side))
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
    return figure
