"""Figures of answers: one number for each group, with its margin."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from deniable.errors import InvalidParameter
from deniable.exact.text_formats import percent
from deniable.figures.canvas import COLOURS, QUIET, canvas
from deniable.release.session.release import Release

NAMED = 40  # up to this many groups are labelled


def bars(release: Release, column: str | None = None) -> Figure:
    """The groups of an answer, top to bottom: a bar for the value, a whisker for the margin.

    `column` is the number to draw; by default the first one.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> visits = pa.table({"ward": ["A", "B"] * 50})
    >>> data = dp.protect(visits, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> answer = data.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> figure = bars(answer, "n")
    """
    name = _choose_column(release, column)
    table = release.to_arrow()
    values = [_as_float(cell) for cell in table[name].to_pylist()]
    margins = [_as_float(cell) for cell in table[release.answer.margins[name]].to_pylist()]
    labels = _labels(release)
    level = percent(release.plan.confidence)
    about = f"{name} of {release.plan.table}, with {level} margins"
    figure, axes = canvas(about, x=name, y="", size=(6.4, 1.3 + 0.28 * min(len(values), NAMED)))
    places = range(len(values))
    whiskers = {"ecolor": "#000000", "elinewidth": 1.2, "capsize": 3}
    axes.barh(places, values, xerr=margins, color=COLOURS[5], height=0.7, error_kw=whiskers)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    if len(labels) <= NAMED:
        axes.set_yticks(list(places), labels)
    axes.xaxis.set_major_formatter("{x:,.6g}")
    cost = f"epsilon {float(release.plan.epsilon):g}"
    cost += f", delta {float(release.plan.delta):g}" if release.plan.delta else ""
    axes.annotate(
        cost, (1, 1.02), xycoords="axes fraction", ha="right", color=QUIET, fontsize=8
    )
    return figure


def _choose_column(release: Release, column: str | None) -> str:
    numbers = list(release.answer.margins)
    if not numbers or not len(release):
        raise InvalidParameter(
            "There is nothing to draw: the answer has no numbers or no rows."
        )
    if column is not None and column not in numbers:
        raise InvalidParameter(
            f"`column` must be a number of the answer: {', '.join(numbers)}. Found {column!r}."
        )
    return column or numbers[0]


def _labels(release: Release) -> Sequence[str]:
    """The labels of the groups, from their keys."""
    margins = release.answer.margins
    keys = [name for name in release.columns if name not in margins]
    if not keys:
        return ["" for _ in range(len(release))]
    rows = zip(*(release.to_arrow()[name].to_pylist() for name in keys), strict=True)
    return [", ".join("NULL" if key is None else str(key) for key in row) for row in rows]


def _as_float(value: Any) -> float:
    return float("nan") if value is None else float(value)
