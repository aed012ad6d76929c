"""Figures of answers, by their kind: bars, a line over time, or a matrix."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from deniable.errors import InvalidParameter
from deniable.exact.text_formats import percent
from deniable.figures.canvas import COLOURS, QUIET, canvas
from deniable.release.session.release import Release

MOST_BARS = 30


def bars(release: Release, column: str | None = None) -> Figure:
    """An answer, by its kind: a bar with a whisker for each group, bin or quantile, at most 30;
    a line with a band if the only key is a date; a matrix for two keys.

    `column` is the number to draw; by default the first one, or all bins of a histogram.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> visits = pa.table({"ward": ["A", "B"] * 50})
    >>> data = dp.protect(visits, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> answer = data.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> figure = bars(answer, "n")
    """
    name = _choose_column(release, column)
    bins = _bins(release, name) if column is None else []
    table, names = release.to_arrow(), bins or [name]
    values = [_as_float(cell) for one in names for cell in table[one].to_pylist()]
    # Margins of quantiles are in ranks, and a most frequent value has no interval.
    ends = [release.answer.ends.get(one, (one, one)) for one in names]
    lows, highs = (
        [_as_float(cell) for pair in ends for cell in table[pair[side]].to_pylist()]
        for side in (0, 1)
    )
    labels = [one.partition("[")[2].removesuffix("]") for one in bins] or _labels(release)
    about, what = _describe(release, name.partition("[")[0] if bins else name)
    kinds = [key.kind for key in release.plan.keys]
    if kinds in (["date"], ["moment"]) and None not in _keys(release)[0]:
        return _line(about, what, _keys(release)[0], values, lows, highs)
    if len(kinds) == 2 and len(_keys(release)) == 2:
        return _matrix(about, _keys(release), values)
    return _bars(about, what, labels, values, lows, highs)


def _bars(
    about: str,
    what: str,
    labels: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
) -> Figure:
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


def _line(
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


def _matrix(about: str, keys: Sequence[Sequence[Any]], values: Sequence[float]) -> Figure:
    """A matrix for two keys: the first one down, the second one across."""
    down, across = (list(dict.fromkeys(key))[:MOST_BARS] for key in keys)
    cells = dict(zip(zip(*keys, strict=True), values, strict=True))
    grid = [[cells.get((one, other), float("nan")) for other in across] for one in down]
    size = (2.5 + 0.5 * len(across), 1.6 + 0.35 * len(down))
    figure, axes = canvas(about, x="", y="", size=size)
    image = axes.imshow(grid, cmap="cividis", aspect="auto")
    axes.set_yticks(range(len(down)), [_text(key) for key in down])
    turned = 60 if max(map(len, map(_text, across))) > 6 else 0
    axes.set_xticks(range(len(across)), [_text(key) for key in across], rotation=turned)
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes)
    return figure


def _describe(release: Release, name: str) -> tuple[str, str]:
    """A title, and what the numbers are."""
    keys = " and ".join(key.name for key in release.plan.keys)
    by = f" by {keys}" if keys else ""
    cost = f"epsilon {float(release.plan.epsilon):g}"
    cost += f", delta {float(release.plan.delta):g}" if release.plan.delta else ""
    level = percent(release.plan.confidence)
    return f"{name} of {release.plan.table}{by}", f"{name} (with {level} intervals; {cost})"


def _bins(release: Release, first: str) -> list[str]:
    """The columns of one histogram or of several quantiles, if the answer is only that."""
    numbers = list(release.answer.margins)
    stem = first.partition("[")[0]
    whole = len(release) == 1 and all(one.partition("[")[0] == stem for one in numbers)
    return numbers if whole and len(numbers) > 1 else []


def _keys(release: Release) -> list[list[Any]]:
    """The keys of all groups, as far as the answer shows them."""
    names = [key.name for key in release.plan.keys if key.name in release.columns]
    return [release.to_arrow()[name].to_pylist() for name in names]


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
    return [", ".join(map(_text, row)) for row in rows]


def _text(key: Any) -> str:
    return "NULL" if key is None else str(key)


def _as_float(value: Any) -> float:
    return float("nan") if value is None else float(value)
