"""Figures of what was inferred: each number with the error of its noise, and in all."""

import math
from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deniable.errors import InvalidParameter
from deniable.figures.canvas import COLOURS, QUIET, canvas, count_lines, fold, wrap_title
from deniable.infer.inferred import Ends, Inferred


def intervals(results: Iterable[Inferred]) -> Figure:
    """One line for each number, top to bottom: thick for the noise alone, thin for all.

    >>> share = Inferred("share of A", 0.41, (0.38, 0.44), (0.40, 0.42), (0.39, 0.43), 0.95)
    >>> figure = intervals([share])
    """
    inferences = list(results)
    figure, axes = _lines(inferences, "Noise alone, and noise with sampling", "value")
    _draw(axes, inferences, COLOURS[0])
    whole = [inference.interval for inference in inferences]
    if min(min(pair) for pair in whole) < 0 < max(max(pair) for pair in whole):
        axes.axvline(0, color=QUIET, linewidth=0.8)
    figure.legend(loc="outside lower right", ncols=2)
    return figure


def differences(results: Iterable[Inferred]) -> Figure:
    """Differences (or ratios) with the line of no difference: those whose interval crosses it
    are grey, because they may be nothing.

    >>> pair = Inferred("A less B", 0.2, (0.1, 0.3), (0.15, 0.25), (0.12, 0.28), 0.95)
    >>> figure = differences([pair])
    """
    inferences = list(results)
    nulls = {inference.null for inference in inferences}
    if len(nulls) > 1:
        raise InvalidParameter("Differences and ratios are drawn apart: give one kind.")
    null = max(nulls, default=0.0)
    title = "Ratios" if null else "Differences"
    figure, axes = _lines(
        inferences, f"{title}: grey may be none", "ratio" if null else "difference"
    )
    axes.axvline(null, color="#000000", linewidth=0.9, linestyle="--", label="no difference")
    clear = [
        inference for inference in inferences if not inference.low <= null <= inference.high
    ]
    _draw(
        axes,
        inferences,
        QUIET,
        only=[inference for inference in inferences if inference not in clear],
    )
    _draw(axes, inferences, COLOURS[0], only=clear)
    # Of equal names the last is shown: grey lines only if all are grey.
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower right", ncols=3)
    return figure


def _lines(inferences: list[Inferred], title: str, x: str) -> tuple[Figure, Axes]:
    """Axes with a line for each number."""
    if not inferences:
        raise InvalidParameter("There is nothing to draw: give at least one result.")
    # No line may end within "95 %".
    levels = ", ".join(
        sorted({f"{100 * number.confidence:.4g}\u00a0%" for number in inferences})
    )
    names = fold([number.what for number in inferences])
    about, tallest = wrap_title(f"{title} ({levels})", names), max(map(count_lines, names))
    size = (6.4, 1.3 + 0.2 * count_lines(about) + (0.18 + 0.14 * tallest) * len(inferences))
    figure, axes = canvas(about, x=x, y="", size=size)
    axes.set_yticks(list(range(len(inferences))), names)
    axes.set_ylim(len(inferences) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    return figure, axes


def _draw(
    axes: Axes, inferences: list[Inferred], colour: str, only: list[Inferred] | None = None
) -> None:
    """The two intervals and the value of each number; at most those in `only`."""
    shown = [(i, f) for i, f in enumerate(inferences) if only is None or f in only]
    if not shown:
        return
    places = [place for place, _ in shown]
    whole: list[Ends] = [inference.interval for _, inference in shown]
    noise: list[Ends] = [inference.noise for _, inference in shown]
    soft = COLOURS[5] if colour == COLOURS[0] else "#BBBBBB"
    edges = _edges(inferences)
    for pairs, shade, width, name in (
        (whole, soft, 2, "in all"),
        (noise, colour, 6, "from noise"),
    ):
        lows, highs = zip(*(_cut(pair, edges) for pair in pairs), strict=True)
        axes.hlines(places, lows, highs, color=shade, linewidth=width, label=name)
    for side, arrow in ((0, "<"), (1, ">")):
        open_at = [p for p, pair in zip(places, whole, strict=True) if math.isinf(pair[side])]
        if open_at:
            axes.plot([edges[side]] * len(open_at), open_at, arrow, color=soft, markersize=9)
    axes.plot(
        [inference.value for _, inference in shown], places, "o", color="#000000", markersize=4
    )


def _edges(inferences: list[Inferred]) -> Ends:
    """Where intervals without an end are cut: beyond all that has one."""
    numbers = [n for f in inferences for n in (f.value, f.null, *f.interval, *f.noise)]
    known = [number for number in numbers if math.isfinite(number)]
    beyond = (max(known) - min(known)) / 10 or 1.0
    return min(known) - beyond, max(known) + beyond


def _cut(pair: Ends, edges: Ends) -> Ends:
    """The part of an interval within the edges, if it has no end of its own."""
    low, high = pair
    return edges[0] if math.isinf(low) else low, edges[1] if math.isinf(high) else high


def example_intervals() -> Figure:
    """Shares of five wards, as `population()` gives them."""
    return intervals(_EXAMPLE)


def example_differences() -> Figure:
    """All pairs of three wards."""
    return differences(_PAIRS)


_EXAMPLE = [
    Inferred("share of A", 0.412, (0.388, 0.437), (0.405, 0.419), (0.389, 0.436), 0.95),
    Inferred("share of B", 0.356, (0.318, 0.396), (0.341, 0.371), (0.320, 0.393), 0.95),
    Inferred("share of C", 0.290, (0.221, 0.368), (0.252, 0.329), (0.231, 0.355), 0.95),
    Inferred("share of D", 0.447, (0.339, 0.559), (0.372, 0.524), (0.366, 0.530), 0.95),
    Inferred("share of E", 0.380, (0.367, 0.393), (0.378, 0.382), (0.368, 0.392), 0.95),
]
_PAIRS = [
    Inferred("A less B", 0.056, (0.002, 0.109), (0.040, 0.072), (0.005, 0.106), 0.95),
    Inferred("A less C", 0.122, (0.037, 0.200), (0.084, 0.161), (0.046, 0.190), 0.95),
    Inferred("B less C", 0.066, (-0.026, 0.155), (0.025, 0.107), (-0.016, 0.143), 0.95),
]
