"""A picture of an answer, by its kind: the places of everything that a template draws.

The kinds are those of `Release.plot()`: bars with whiskers for groups, bins and quantiles, a
line with a band over days, and a matrix for two keys. Templates write the SVG, so that labels
are escaped like any other text; each picture has a table beside it with the same numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer

MOST_BARS = 30
MOST_CHARTS = 3
WIDTH = 320
_LEFT, _RIGHT, _ROW, _HEAD, _FOOT = 8, 312, 38, 6, 26
_LINE_HEIGHT, _CELL = 190, 30
_LETTER = 7.5  # the width of a letter, in the size that a phone gets


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid with its number."""

    place: float
    label: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Mark:
    """A number with its interval: places along the scale, and across it."""

    label: str
    text: str
    across: float
    value: float | None  # None: there is no number
    low: float
    high: float
    zero: float = 0.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a matrix; its shade is from 0 to 9."""

    x: float
    y: float
    shade: int
    text: str


@dataclass(frozen=True, slots=True)
class AnswerChart:
    """What a template draws."""

    kind: str  # "bars", "line" or "matrix"
    title: str
    height: float
    ticks: tuple[Tick, ...] = ()
    marks: tuple[Mark, ...] = ()
    more: int = 0  # groups that are not drawn
    cells: tuple[Cell, ...] = ()
    rows: tuple[Tick, ...] = ()  # of a matrix
    cell_width: float = 0.0

    @property
    def band(self) -> str:
        """The corners of a line's band."""
        there = [(mark.across, mark.high) for mark in self.marks]
        back = [(mark.across, mark.low) for mark in reversed(self.marks)]
        return " ".join(f"{x},{y}" for x, y in [*there, *back])

    @property
    def points(self) -> str:
        """The points of a line."""
        return " ".join(f"{mark.across},{mark.value}" for mark in self.marks)


def draw_answers(plan: Plan, answer: Answer) -> list[AnswerChart]:
    """The pictures of the first numbers of an answer; one for all bins of a histogram."""
    first = draw_answer(plan, answer)
    if first is None:
        return []
    names = list(answer.margins)
    others = [] if _bins(answer, names[0]) else names[1:MOST_CHARTS]
    charts = [draw_answer(plan, answer, name) for name in others]
    return [first, *(chart for chart in charts if chart is not None)]


def draw_answer(plan: Plan, answer: Answer, column: str | None = None) -> AnswerChart | None:
    """The picture of one column, by default the first with numbers; None without numbers."""
    numbers = list(answer.margins)
    if not numbers or not answer.table.num_rows or (column or numbers[0]) not in numbers:
        return None
    name = column or numbers[0]
    bins = _bins(answer, name) if column is None else []
    rows = [row for field in (bins or [name]) for row in _intervals(answer, field)]
    if not any(_is_finite(value) for value, _, _ in rows):
        return None
    keys = [key for key in plan.keys if key.name in answer.shown]
    by = f" by {' and '.join(key.name for key in keys)}" if keys else ""
    subject = name.partition("[")[0] if bins else name
    title = f"{subject}{by}" if subject == plan.table else f"{subject} in {plan.table}{by}"
    columns = [answer.table[key.name].to_pylist() for key in keys]
    if [key.kind for key in keys] in (["date"], ["moment"]) and None not in columns[0]:
        return _line(title, columns[0], rows)
    if len(columns) == 2 and len(plan.keys) == 2:
        return _matrix(title, columns[0], columns[1], [value for value, _, _ in rows])
    labels = [field.partition("[")[2].removesuffix("]") for field in bins] or _labels(answer)
    return _bars(title, labels, rows)


Interval = tuple[float | None, float | None, float | None]


def _intervals(answer: Answer, name: str) -> list[Interval]:
    low, high = answer.ends.get(name, (name, name))
    columns = [answer.table[column].to_pylist() for column in (name, low, high)]
    return [tuple(map(_as_float, row)) for row in zip(*columns, strict=True)]  # type: ignore[misc]


def _bars(title: str, labels: Sequence[str], rows: Sequence[Interval]) -> AnswerChart:
    first_rows = rows[:MOST_BARS]
    ends = [end for row in first_rows for end in row if _is_finite(end)] + [0.0]
    steps = _steps(min(ends), max(ends))

    def place(value: float | None) -> float:
        return _place(value, steps[0], steps[-1], _LEFT, _RIGHT)

    height = _HEAD + _ROW * len(first_rows) + _FOOT
    marks = [
        Mark(
            _shorten(label),
            "no value" if value is None else _text(value),
            _HEAD + _ROW * number,
            None if value is None else place(value),
            place(low if low is not None else value),
            place(high if high is not None else value),
            place(0.0),
        )
        for number, (label, (value, low, high)) in enumerate(
            zip(labels, first_rows, strict=False)
        )
    ]
    last = len(steps) - 1
    anchors = {0: "start", last: "end"}
    labels_shown = _thin([_text(step) for step in steps])
    ticks = [
        Tick(place(step), label, anchors.get(number, "middle"))
        for number, (step, label) in enumerate(zip(steps, labels_shown, strict=True))
    ]
    return AnswerChart(
        "bars", title, height, tuple(ticks), tuple(marks), max(0, len(rows) - MOST_BARS)
    )


def _line(title: str, days: Sequence[Any], rows: Sequence[Interval]) -> AnswerChart:
    ordered = sorted(
        (day, row) for day, row in zip(days, rows, strict=True) if _is_finite(row[0])
    )
    ends = [end for _, row in ordered for end in row if _is_finite(end)]
    steps = _steps(min(ends), max(ends))
    top, bottom = _HEAD + 8, _HEAD + _LINE_HEIGHT

    def place(value: float | None) -> float:
        return _place(value, steps[0], steps[-1], bottom, top)

    first, last = ordered[0][0], ordered[-1][0]
    whole = (last - first).total_seconds() or 1.0
    marks = [
        Mark(
            str(day),
            _text(value or 0.0),
            _place((day - first).total_seconds() / whole, 0.0, 1.0, 46, _RIGHT - 6),
            place(value),
            place(low),
            place(high),
        )
        for day, (value, low, high) in ordered
    ]
    ticks = [Tick(place(step), _text(step)) for step in steps]
    return AnswerChart("line", title, bottom + _FOOT, tuple(ticks), tuple(marks))


def _matrix(
    title: str, down: Sequence[Any], across: Sequence[Any], values: Sequence[float | None]
) -> AnswerChart:
    rows, columns = (list(dict.fromkeys(keys))[:MOST_BARS] for keys in (down, across))
    known = [value for value in values if value is not None and math.isfinite(value)]
    least, most = min(known), max(known)
    left, top = 84, 34
    width = round((_RIGHT - left) / len(columns), 2)
    cells = [
        Cell(
            left + width * columns.index(column),
            top + _CELL * rows.index(row),
            round(9 * (value - least) / ((most - least) or 1.0)),
            _text(value),
        )
        for row, column, value in zip(down, across, values, strict=True)
        if value is not None and row in rows and column in columns
    ]
    most_letters = max(2, int(width / 7))
    ticks = [
        Tick(left + width * (number + 0.5), _shorten(_key(column), most_letters))
        for number, column in enumerate(columns)
    ]
    lines = [
        Tick(top + _CELL * (number + 0.5), _shorten(_key(row), 12))
        for number, row in enumerate(rows)
    ]
    height = top + _CELL * len(rows) + 6
    return AnswerChart(
        "matrix",
        title,
        height,
        tuple(ticks),
        cells=tuple(cells),
        rows=tuple(lines),
        cell_width=width,
    )


def _bins(answer: Answer, first: str) -> list[str]:
    """The columns of one histogram or of several quantiles, if the answer is only that."""
    numbers = list(answer.margins)
    stem = first.partition("[")[0]
    whole = answer.table.num_rows == 1 and all(
        column.partition("[")[0] == stem for column in numbers
    )
    return numbers if whole and len(numbers) > 1 else []


def _labels(answer: Answer) -> list[str]:
    keys = [name for name in answer.shown if name not in answer.margins]
    if not keys:
        return [""] * answer.table.num_rows
    rows = zip(*(answer.table[name].to_pylist() for name in keys), strict=True)
    return [", ".join(map(_key, row)) for row in rows]


def _steps(low: float, high: float) -> list[float]:
    """Three to seven round numbers from below the least value to above the greatest.

    >>> _steps(-3, 17)
    [-5.0, 0.0, 5.0, 10.0, 15.0, 20.0]
    """
    span = (high - low) or abs(high) or 1.0
    raw = span / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= raw)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(step * number, 12) for number in range(first, max(last, first + 1) + 1)]


def _thin(labels: list[str]) -> list[str]:
    """Labels of a scale, without those for which a phone has no room.

    >>> _thin(["0", "10,000,000", "20,000,000", "30,000,000", "40,000,000"])
    ['0', '', '20,000,000', '', '40,000,000']
    """
    room = (_RIGHT - _LEFT) / (len(labels) - 1)
    every = math.ceil((max(map(len, labels)) + 1) * _LETTER / room)
    return [label if number % every == 0 else "" for number, label in enumerate(labels)]


def _place(value: float | None, low: float, high: float, start: float, end: float) -> float:
    if value is None or not math.isfinite(value):
        value = low
    part = (value - low) / (high - low)
    return round(start + (end - start) * min(max(part, 0.0), 1.0), 2)


def _is_finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _as_float(value: Any) -> float | None:
    if value is None or isinstance(value, str | bool):
        return None
    try:
        return float(value)
    except TypeError:
        return None


def _text(value: float) -> str:
    return f"{value:,.6g}"


def _key(key: Any) -> str:
    return "NULL" if key is None else str(key)


def _shorten(label: str, most: int = 34) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"
