"""The shapes that an answer is drawn in: bars, a histogram, a ladder, a line, a matrix."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deniable.figures.canvas import COLOURS, QUIET, canvas, count_lines, fold, wrap_title

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
    bar_count = min(len(values), MOST_BARS)
    names = fold(labels[:bar_count])
    title, tallest = wrap_title(about, names), max(map(count_lines, names))
    height = 1.1 + 0.2 * count_lines(title) + (0.14 + 0.14 * tallest) * bar_count
    figure, axes = canvas(title, x=what, y="", size=(6.4, height))
    places = range(bar_count)
    below = [max(0.0, value - low) for value, low in zip(values, lows, strict=True)]
    above = [max(0.0, high - value) for value, high in zip(values, highs, strict=True)]
    whiskers = {"ecolor": "#000000", "elinewidth": 1.2, "capsize": 3}
    axes.barh(
        places,
        values[:bar_count],
        xerr=[below[:bar_count], above[:bar_count]],
        color=COLOURS[5],
        height=0.7,
        error_kw=whiskers,
    )
    axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.set_ylim(bar_count - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_yticks(list(places), names)
    axes.xaxis.set_major_formatter("{x:,.6g}")
    if len(values) > bar_count:
        _note(axes, f"{len(values) - bar_count:,} more")
    return figure


def _note(axes: Axes, text: str) -> None:
    """A few words in the right corner above the axes."""
    inside: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
    axes.text(1, 1.01, text, color=QUIET, fontsize=8, **inside)


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


def draw_matrix(
    about: str,
    what: str,
    keys: Sequence[Sequence[Any]],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
) -> Figure:
    """A matrix for two keys: the first one down, the second one across. Each cell has its
    margin, or if there are many the scale says how large the margins are at most."""
    all_keys = [list(dict.fromkeys(key)) for key in keys]
    down, across = (names[:MOST_BARS] for names in all_keys)
    halves = zip(values, map(_half_width, values, lows, highs), strict=True)
    cells = dict(zip(zip(*keys, strict=True), halves, strict=True))
    nothing = (float("nan"), float("nan"))
    both = [
        [cells.get((row_key, column_key), nothing) for column_key in across] for row_key in down
    ]
    grid = [[value for value, _ in row] for row in both]
    written = len(down) * len(across) <= _MOST_NUMBERS
    size = (max(5.2, 2.5 + 0.5 * len(across)), 1.6 + (0.5 if written else 0.35) * len(down))
    names = fold([key_text(key) for key in down])
    figure, axes = canvas(wrap_title(about, names), x="", y="", size=size)
    image = axes.imshow(grid, cmap="cividis", aspect="auto")
    axes.set_yticks(range(len(down)), names)
    turned = 60 if max(map(len, map(key_text, across))) > 6 else 0
    axes.set_xticks(range(len(across)), [key_text(key) for key in across], rotation=turned)
    axes.grid(visible=False)
    if more := " and ".join(
        f"{len(names) - MOST_BARS:,} more {side}"
        for names, side in zip(all_keys, ("down", "across"), strict=True)
        if len(names) > MOST_BARS
    ):
        _note(axes, more)
    widest = max((half for row in both for _, half in row if half == half), default=0.0)
    scale = figure.colorbar(image, ax=axes, format="{x:,.6g}")
    name, _, rest = what.partition(" (with ")
    scale.set_label(what if written else f"{name} ± at most {widest:,.3g}\n({rest}")
    if written:
        _write_cells(axes, both)
    return figure


def _write_cells(axes: Axes, cells: Sequence[Sequence[tuple[float, float]]]) -> None:
    """Writes each number and its margin into its cell, in a colour that can be read there."""
    numbers = [value for row in cells for value, _ in row if value == value]
    middle = (min(numbers) + max(numbers)) / 2 if numbers else 0.0
    at: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
    for i, row in enumerate(cells):
        for j, (value, half) in enumerate(row):
            if value == value:
                colour = "#000000" if value > middle else "#FFFFFF"
                margin = f"\n± {half:,.3g}" if half else ""
                axes.text(j, i, f"{value:,.5g}{margin}", color=colour, **at)


def _half_width(value: float, low: float, high: float) -> float:
    """How far the interval reaches to its farther side."""
    return max(value - low, high - value)


def key_text(key: Any) -> str:
    """A key as it is written beside its bar."""
    return "NULL" if key is None else str(key)
