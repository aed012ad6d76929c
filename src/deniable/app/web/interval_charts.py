"""Pictures of estimates with their intervals, as SVG.

Presentation attributes only: a strict content security policy drops `style`. Each picture has a
title and a description, and the page gives its numbers again as a table. Classes let a page
change colours in the dark; without its stylesheet the picture is complete.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.exact.foreign_text import escape_html
from deniable.surveys.results.number_texts import interval_text, value_text
from deniable.surveys.results.result_numbers import ResultNumber

INK, ACCENT, SOFT, QUIET, TRACK = "#1b2733", "#0b5fa5", "#a9cbe8", "#5b6b7a", "#e4e9ee"
WARNING = "#a8480b"

_WIDTH, _LEFT, _RIGHT = 400, 7, 393
_ROW = 42
_HEAD, _AXIS = 6, 24


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One line of a picture. `also` is the sequence beside a number of the planned look; a row
    without a number is a heading."""

    label: str
    number: ResultNumber | None = None
    also: ResultNumber | None = None


def draw_intervals(
    rows: Sequence[ChartRow],
    *,
    name: str,
    title: str,
    limits: tuple[float, float] = (0.0, 1.0),
    attributes: str = "",
    rehearsal: bool = False,
) -> str:
    """A picture with one line for each estimate. `name` makes its ids unique on a page.
    `attributes` say what its language is.

    >>> draw_intervals([ChartRow("nothing yet")], name="a", title="Empty").count("<title")
    1
    """
    height = _HEAD + _ROW * len(rows) + _AXIS
    described = "; ".join(
        f"{row.label}: {value_text(row.number)}, {interval_text(row.number)}"
        for row in rows
        if row.number is not None
    )
    parts = [
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" xmlns="http://www.w3.org/2000/svg" '
        f'font-family="system-ui, sans-serif" font-size="13"{attributes}>',
        f'<title id="{name}-title">{escape_html(title)}</title>',
        f'<desc id="{name}-desc">{escape_html(described)}</desc>',
        *_axis(limits, height),
    ]
    for place, row in enumerate(rows):
        parts += _row(row, _HEAD + _ROW * place, limits)
    if rehearsal:
        parts.append(
            f'<text class="mark" x="{_WIDTH / 2}" y="{height / 2}" text-anchor="middle" '
            f'font-size="30" font-weight="700" fill="{WARNING}" fill-opacity="0.16" '
            f'transform="rotate(-9 {_WIDTH / 2} {height / 2})">REHEARSAL</text>'
        )
    return "".join([*parts, "</svg>"])


def _axis(limits: tuple[float, float], height: float) -> list[str]:
    bottom = height - _AXIS
    parts = []
    for step in range(5):
        value = limits[0] + (limits[1] - limits[0]) * step / 4
        x = _place(value, limits)
        anchor = {0: "start", 4: "end"}.get(step, "middle")
        label = f"{100 * value:.0f} %" if limits == (0.0, 1.0) else f"{value:g}"
        parts.append(
            f'<line class="grid" x1="{x}" x2="{x}" y1="{_HEAD}" y2="{bottom}" '
            f'stroke="{TRACK}"/>'
            f'<text class="quiet" x="{x}" y="{bottom + 17}" text-anchor="{anchor}" '
            f'font-size="11" fill="{QUIET}">{label}</text>'
        )
    return parts


def _row(row: ChartRow, top: float, limits: tuple[float, float]) -> list[str]:
    base = top + 29
    if row.number is None:
        return [
            f'<text class="ink" x="{_LEFT}" y="{top + 28}" font-weight="700" fill="{INK}">'
            f"{escape_html(row.label)}</text>"
        ]
    estimate = row.number.reading.estimate
    parts = [
        f'<text class="ink" x="{_LEFT}" y="{top + 15}" fill="{INK}">'
        f"{escape_html(_shorten(row.label))}</text>",
        f'<text class="ink" x="{_RIGHT}" y="{top + 15}" text-anchor="end" font-weight="700" '
        f'fill="{INK}">{escape_html(value_text(row.number))}</text>',
    ]
    if row.also is not None and row.also.reading.estimate.consistent:
        low, high = (_place(end, limits) for end in row.also.reading.estimate.interval)
        parts.append(_bar("soft", low, high, base + 4.5, 3, SOFT))
    if estimate.consistent:
        low, high = (_place(end, limits) for end in estimate.interval)
        parts.append(_bar("bar", low, high, base - 4, 7, ACCENT))
    x = _place(estimate.value, limits)
    colour, kind = (ACCENT, "dot") if estimate.consistent else (WARNING, "wrong")
    parts.append(
        f'<circle class="{kind}" cx="{x}" cy="{base - 0.5}" r="6" fill="#ffffff" '
        f'stroke="{colour}" stroke-width="3"/>'
    )
    return parts


def _bar(kind: str, low: float, high: float, y: float, height: float, colour: str) -> str:
    return (
        f'<rect class="{kind}" x="{low}" y="{y}" width="{max(round(high - low, 2), 1)}" '
        f'height="{height}" rx="{height / 2}" fill="{colour}"/>'
    )


def _place(value: float, limits: tuple[float, float]) -> float:
    part = (value - limits[0]) / (limits[1] - limits[0])
    return round(_LEFT + (_RIGHT - _LEFT) * min(max(part, 0.0), 1.0), 2)


def _shorten(label: str, most: int = 38) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"


def draw_hundred(marked: int, *, name: str, title: str, before: int) -> str:
    """A hundred people, of whom `before` would be right anyway and `marked` are right at most.

    >>> draw_hundred(75, name="h", title="Guesses", before=50).count("<circle")
    100
    """
    dots = []
    for person in range(100):
        x, y = 13 + 23 * (person % 20), 13 + 23 * (person // 20)
        kind, colour = ("none", TRACK)
        if person < before:
            kind, colour = ("soft", SOFT)
        elif person < marked:
            kind, colour = ("bar", ACCENT)
        dots.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="8.5" fill="{colour}"/>')
    return (
        f'<svg class="chart" viewBox="0 0 463 118" role="img" aria-labelledby="{name}-title" '
        f'xmlns="http://www.w3.org/2000/svg"><title id="{name}-title">{escape_html(title)}'
        f"</title>{''.join(dots)}</svg>"
    )
