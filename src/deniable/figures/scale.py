"""The time of a private query by rows and by groups, compared with a plain query."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deniable.errors import InvalidParameter
from deniable.figures.canvas import COLOURS, QUIET, STYLE, canvas

Point: TypeAlias = Mapping[str, Any]  # engine, policy, rows, groups, ours, plain


def growth(points: Iterable[Point], *, groups: int, rows: int) -> Figure:
    """Seconds over rows for `groups` groups, and over groups for `rows` rows; both logarithmic.

    Private queries are full lines, plain queries of the same engine are dashed. The legend
    states the exponent: the slope of the best line through the logarithms. It is 1 if time is
    proportional to rows.

    >>> points = [
    ...     {"engine": "DuckDB", "policy": "rows", "rows": 10**k, "groups": 1000}
    ...     | {"ours": 2 * 10.0 ** (k - 8), "plain": 10.0 ** (k - 8)}
    ...     for k in (5, 6, 7)
    ... ]
    >>> figure = growth(points, groups=1000, rows=10**7)
    >>> figure.axes[0].lines[0].get_label()
    'DuckDB, private: exponent 1.00'
    """
    listed = list(points)
    if not listed:
        raise InvalidParameter("`points` must hold at least one point. Found none.")
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        figure, first = canvas("", x="", y="", size=(10, 4.2))
        first.remove()
        left, right = figure.subplots(1, 2, sharey=True)
        at_groups = [point for point in listed if point["groups"] == groups]
        at_rows = [point for point in listed if point["rows"] == rows]
        by_rows = _with_policy(at_groups, "rows")
        for place, engine in enumerate(dict.fromkeys(point["engine"] for point in listed)):
            _draw_lines(left, by_rows, "rows", engine, place, fitted=True)
            _draw_lines(right, _with_policy(at_rows, "rows"), "groups", engine, place)
            _draw_marks(right, _with_policy(at_rows, "private"), engine, place)
        _draw_proportional(left, by_rows)
        left.set(xlabel=f"rows, in {groups:,} groups", ylabel="seconds")
        right.set(xlabel=f"groups, of {rows:,} rows")
        for axes in (left, right):
            axes.set(xscale="log", yscale="log")
            axes.legend(loc="lower right", fontsize=8, handlelength=3.5)
        title = "COUNT and AVG by group: how long they take"
        figure.suptitle(title, x=0.01, ha="left", weight="bold")
    return figure


def _with_policy(points: Sequence[Point], policy: str) -> list[Point]:
    return [point for point in points if point["policy"] == policy]


def _draw_lines(
    axes: Axes,
    points: Sequence[Point],
    over: str,
    engine: str,
    place: int,
    *,
    fitted: bool = False,
) -> None:
    """One line for the private query and one for the plain one."""
    own = [point for point in points if point["engine"] == engine]
    ordered = sorted(own, key=lambda point: point[over])
    if not ordered:
        return
    x = [point[over] for point in ordered]
    for side, style, word in (("ours", "-", "private"), ("plain", "--", "not private")):
        y = [point[side] for point in ordered]
        label = f"{engine}, {word}"
        if fitted and len(x) > 1:
            label += f": exponent {exponent(x, y):.2f}"
        axes.plot(x, y, style, marker=".", color=COLOURS[place], label=label)


def _draw_marks(axes: Axes, points: Sequence[Point], engine: str, place: int) -> None:
    """Queries whose keys are not declared: points without a line."""
    own = [point for point in points if point["engine"] == engine]
    if own:
        x, y = [point["groups"] for point in own], [point["ours"] for point in own]
        label = f"{engine}, keys not declared"
        axes.plot(x, y, "s", fillstyle="none", color=COLOURS[place], label=label)


def _draw_proportional(axes: Axes, points: Sequence[Point]) -> None:
    """A reference line of slope one."""
    if points:
        x, y = [point["rows"] for point in points], [point["ours"] for point in points]
        low = max(y) * min(x) / max(x)
        quiet: dict[str, Any] = {"color": QUIET, "linewidth": 1, "label": "in proportion"}
        axes.plot([min(x), max(x)], [low, max(y)], ":", **quiet)
        axes.set_ylim(bottom=min(point["plain"] for point in points) / 2)


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The slope of the line through log time over log size, by least squares.

    >>> round(exponent([1, 10, 100], [2, 20, 200]), 6)
    1.0
    """
    line = statistics.linear_regression(
        [math.log(size) for size in sizes], [math.log(time) for time in times]
    )
    return line.slope
