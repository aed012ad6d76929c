"""Figures of what was inferred: each number with the error of its noise, and in all."""

from collections.abc import Iterable

from matplotlib.figure import Figure

from deniable.errors import InvalidParameter
from deniable.figures.canvas import COLOURS, QUIET, canvas
from deniable.infer.inferred import Inferred


def intervals(results: Iterable[Inferred]) -> Figure:
    """One line for each number, top to bottom: thick for the noise alone, thin for all.

    >>> share = Inferred("share of A", 0.41, (0.38, 0.44), (0.40, 0.42), (0.39, 0.43), 0.95)
    >>> figure = intervals([share])
    """
    drawn = list(results)
    if not drawn:
        raise InvalidParameter("There is nothing to draw: give at least one result.")
    levels = sorted({f"{100 * found.confidence:.4g} %" for found in drawn})
    title = f"Noise alone, and noise with sampling ({', '.join(levels)})"
    size = (6.4, 1.5 + 0.32 * len(drawn))
    figure, axes = canvas(title, x="value", y="", size=size)
    places = list(range(len(drawn)))
    whole = [found.interval for found in drawn]
    noise = [found.noise for found in drawn]
    values = [found.value for found in drawn]
    lows, highs = zip(*whole, strict=True)
    axes.hlines(places, lows, highs, color=COLOURS[5], linewidth=2, label="in all")
    lows, highs = zip(*noise, strict=True)
    axes.hlines(places, lows, highs, color=COLOURS[0], linewidth=6, label="from noise")
    axes.plot(values, places, "o", color="#000000", markersize=4)
    if min(min(pair) for pair in whole) < 0 < max(max(pair) for pair in whole):
        axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.set_yticks(places, [found.what for found in drawn])
    axes.set_ylim(len(drawn) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside lower right", ncols=2)
    return figure
