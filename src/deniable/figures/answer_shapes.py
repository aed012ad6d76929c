"""The shapes that an answer is drawn in: bars, a histogram, a ladder, a line, a matrix."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from matplotlib.figure import Figure

from deniable.figures.canvas import COLOURS, QUIET, canvas

MOST_BARS = 30
_MOST_NUMBERS = 100  # cells of a matrix in which the number is written


def draw_bars(
    about: str,
    what: str,
    labels: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
) -> Figure:
    """A bar with a whisker for each label: the first 30, and how many more there are."""
    shown = min(len(values), MOST_BARS)
    figure, axes = canvas(about, x=what, y="", size=(6.4, 1.3 + 0.28 * shown))
    places = range(shown)
    below = [max(0.0, value - low) for value, low in zip(values, lows, strict=True)]
    above = [max(0.0, high - value) for value, high in zip(values, highs, strict=True)]
    whiskers = {"ecolor": "#000000", "elinewidth": 1.2, "capsize": 3}
    axes.barh(
        places,
        values[:shown],
        xerr=[below[:shown], above[:shown]],
        color=COLOURS[5],
        height=0.7,
        error_kw=whiskers,
    )
    axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_yticks(list(places), labels[:shown])
    axes.xaxis.set_major_formatter("{x:,.6g}")
    if len(values) > shown:
        note = f"{len(values) - shown:,} more"
        inside: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
        axes.text(1, 1.01, note, color=QUIET, fontsize=8, **inside)
    return figure


def draw_histogram(
    about: str,
    column: str,
    what: str,
    edges: Sequence[tuple[float, float]],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
) -> Figure:
    """A bar over each bin, with a whisker in its middle."""
    figure, axes = canvas(about, x=column, y=what)
    starts, widths = [low for low, _ in edges], [high - low for low, high in edges]
    axes.bar(starts, values, widths, align="edge", color=COLOURS[5], edgecolor="#FFFFFF")
    middles = [(low + high) / 2 for low, high in edges]
    below = [max(0.0, value - low) for value, low in zip(values, lows, strict=True)]
    above = [max(0.0, high - value) for value, high in zip(values, highs, strict=True)]
    bar: dict[str, Any] = {"ecolor": "#000000", "elinewidth": 1.2, "capsize": 3}
    axes.errorbar(middles, values, yerr=[below, above], linestyle="", **bar)
    axes.axhline(0, color=QUIET, linewidth=0.8)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.6g}")
    return figure


def draw_ladder(
    about: str,
    what: str,
    levels: Mapping[str, Fraction],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
) -> Figure:
    """A rung for each quantile: its interval, and a mark at its value, at the height of the
    share of rows below it."""
    shares = [float(level) for level in levels.values()]
    figure, axes = canvas(about, x=what, y="share of rows below")
    axes.plot(values, shares, color=COLOURS[5], linewidth=1.2)
    axes.hlines(shares, lows, highs, color=COLOURS[0], linewidth=4, alpha=0.5)
    axes.plot(values, shares, color=COLOURS[0], marker="o", linestyle="")
    axes.set_ylim(-0.04, 1.04)
    if len(levels) <= MOST_BARS // 2:
        axes.set_yticks(shares, [f"{share:g}" for share in shares])
    axes.xaxis.set_major_formatter("{x:,.6g}")
    return figure


def draw_line(
    about: str,
    what: str,
    days: Sequence[Any],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
) -> Figure:
    """A line over time, with a band between the ends of the intervals."""
    figure, axes = canvas(about, x="", y=what)
    rows = sorted(zip(days, values, lows, highs, strict=True), key=lambda row: row[0])
    x, y, low, high = ([row[place] for row in rows] for place in range(4))
    axes.fill_between(x, low, high, color=COLOURS[5], alpha=0.4, linewidth=0)
    axes.plot(x, y, color=COLOURS[0], marker="." if len(x) <= MOST_BARS else "")
    axes.yaxis.set_major_formatter("{x:,.6g}")
    figure.autofmt_xdate()
    return figure


def draw_matrix(about: str, keys: Sequence[Sequence[Any]], values: Sequence[float]) -> Figure:
    """A matrix for two keys: the first one down, the second one across."""
    down, across = (list(dict.fromkeys(key))[:MOST_BARS] for key in keys)
    cells = dict(zip(zip(*keys, strict=True), values, strict=True))
    grid = [[cells.get((one, other), float("nan")) for other in across] for one in down]
    size = (max(5.2, 2.5 + 0.5 * len(across)), 1.6 + 0.35 * len(down))
    figure, axes = canvas(about, x="", y="", size=size)
    image = axes.imshow(grid, cmap="cividis", aspect="auto")
    axes.set_yticks(range(len(down)), [key_text(key) for key in down])
    turned = 60 if max(map(len, map(key_text, across))) > 6 else 0
    axes.set_xticks(range(len(across)), [key_text(key) for key in across], rotation=turned)
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes)
    known = [value for row in grid for value in row if value == value]
    middle = (min(known) + max(known)) / 2 if known else 0.0
    if len(down) * len(across) <= _MOST_NUMBERS:
        for i, row in enumerate(grid):
            for j, value in enumerate(row):
                colour = "#000000" if value > middle else "#FFFFFF"
                axes.text(j, i, f"{value:,.4g}", ha="center", va="center", color=colour)
    return figure


def key_text(key: Any) -> str:
    """A key as it is written beside its bar."""
    return "NULL" if key is None else str(key)
