"""How the time of a private query grows with rows and with groups, beside a plain one's."""

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
    """Seconds over rows at so many groups, and over groups at so many rows; both logarithmic.

    Ours are full lines, the same engine's plain query dashed ones. The legend names the
    exponent: the slope of the best line through the logarithms, 1 for time in proportion.

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
        raise InvalidParameter("There is nothing to draw: no point was measured.")
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        figure, first = canvas("", x="", y="", size=(10, 4.2))
        first.remove()
        left, right = figure.subplots(1, 2, sharey=True)
        for place, engine in enumerate(dict.fromkeys(one["engine"] for one in listed)):
            own = [one for one in listed if one["engine"] == engine]
            by_rows = [
                one for one in own if _has_policy(one, "rows") and one["groups"] == groups
            ]
            _draw_lines(left, by_rows, "rows", engine, place, fitted=True)
            by_groups = [one for one in own if one["rows"] == rows]
            _draw_lines(
                right,
                [one for one in by_groups if _has_policy(one, "rows")],
                "groups",
                engine,
                place,
            )
            _draw_marks(
                right, [one for one in by_groups if _has_policy(one, "private")], engine, place
            )
        _draw_proportional(
            left,
            [one for one in listed if _has_policy(one, "rows") and one["groups"] == groups],
        )
        left.set(xlabel=f"rows, in {groups:,} groups", ylabel="seconds")
        right.set(xlabel=f"groups, of {rows:,} rows")
        for axes in (left, right):
            axes.set(xscale="log", yscale="log")
            axes.legend(loc="lower right", fontsize=8, handlelength=3.5)
        title = "COUNT and AVG by group: how long they take"
        figure.suptitle(title, x=0.01, ha="left", weight="bold")
    return figure


def _has_policy(point: Point, policy: str) -> bool:
    return bool(point["policy"] == policy)


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
    ordered = sorted(points, key=lambda one: one[over])
    if not ordered:
        return
    x = [one[over] for one in ordered]
    for side, style, word in (("ours", "-", "private"), ("plain", "--", "not private")):
        y = [one[side] for one in ordered]
        label = f"{engine}, {word}"
        if fitted and len(x) > 1:
            label += f": exponent {exponent(x, y):.2f}"
        axes.plot(x, y, style, marker=".", color=COLOURS[place], label=label)


def _draw_marks(axes: Axes, points: Sequence[Point], engine: str, place: int) -> None:
    """Private keys, of which hardly any is shown: points without a line."""
    if points:
        x, y = [one["groups"] for one in points], [one["ours"] for one in points]
        label = f"{engine}, keys not declared"
        axes.plot(x, y, "s", fillstyle="none", color=COLOURS[place], label=label)


def _draw_proportional(axes: Axes, points: Sequence[Point]) -> None:
    """A quiet line of slope one, for the eye."""
    if points:
        x, y = [one["rows"] for one in points], [one["ours"] for one in points]
        low = max(y) * min(x) / max(x)
        quiet: dict[str, Any] = {"color": QUIET, "linewidth": 1, "label": "in proportion"}
        axes.plot([min(x), max(x)], [low, max(y)], ":", **quiet)
        axes.set_ylim(bottom=min(one["plain"] for one in points) / 2)


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The slope of the line through log time over log size, by least squares.

    >>> round(exponent([1, 10, 100], [2, 20, 200]), 6)
    1.0
    """
    line = statistics.linear_regression(
        [math.log(one) for one in sizes], [math.log(one) for one in times]
    )
    return line.slope
