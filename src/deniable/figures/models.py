"""Figures of fitted models: shape functions, coefficients with intervals, ROC curves."""

from collections.abc import Sequence
from math import ceil, isfinite
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from deniable.errors import InvalidParameter
from deniable.exact.text_formats import percent
from deniable.figures.canvas import COLOURS, QUIET, STYLE, canvas, count_lines, fold, wrap_title
from deniable.learn.evaluation.ratio_intervals import ScoreReading
from deniable.learn.evaluation.score_histogram import ScoreHistogram
from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.feature_cells import FeatureCells
from deniable.learn.fit.linear_model import LinearModel

_MOST_SHAPES, _ACROSS = 24, 3
_NAMED = 14  # up to this many listed values of a feature are labelled


def shapes(
    model: CellModel | Any, names: Sequence[str] | None = None, score: int = -1
) -> Figure:
    """The score of each cell of each feature: how the model uses it.

    Numbers are steps between their cuts; listed values are bars. The grey bar is the cell of
    missing and unknown values. `score` is which score of several is drawn. `model` is a fitted
    estimator, or its `model_`.

    >>> sex = FeatureCells("sex", "text", ("f", "m", None))
    >>> table = np.array([[1.0], [-1.0], [0.0]])
    >>> figure = shapes(CellModel((sex,), (table,), np.zeros(1), "sigmoid", ("no", "yes")))
    """
    model = getattr(model, "model_", model)
    known = {feature.name: place for place, feature in enumerate(model.features)}
    feature_names = list(known)[:_MOST_SHAPES] if names is None else list(names)
    if unknown := [name for name in feature_names if name not in known]:
        raise InvalidParameter(
            f"The model has no feature {unknown[0]!r}. It has: {', '.join(known)}."
        )
    across = min(_ACROSS, len(feature_names))
    down = ceil(len(feature_names) / across)
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(2.6 * across + 0.6, 2.0 * down + 0.4))
        FigureCanvasAgg(figure)
        grid = figure.subplots(down, across, squeeze=False, sharey=True)
        for place, axes in enumerate(grid.ravel()):
            if place >= len(feature_names):
                axes.set_visible(False)
                continue
            at = known[feature_names[place]]
            _draw_shape(axes, model.features[at], model.tables[at][:, score])
            axes.set_title(feature_names[place])
            if place % across == 0:
                axes.set_ylabel("predicted number" if model.link == "identity" else "log-odds")
    return figure


def _draw_shape(axes: Axes, feature: FeatureCells, scores: np.ndarray) -> None:
    axes.axhline(0, color=QUIET, linewidth=0.8)
    if feature.cuts and feature.kind == "number":
        cuts = [float(cut) for cut in feature.cuts]
        low, high = feature.bounds or (2 * cuts[0] - cuts[-1] - 1, 2 * cuts[-1] - cuts[0] + 1)
        edges = [low, *cuts, max(high, cuts[-1])]
        axes.stairs(scores[: len(cuts) + 1], edges, baseline=None, color=COLOURS[0], lw=1.6)
        return
    labels = ["other" if label is None else str(label) for label in feature.labels]
    colours = [QUIET if label is None else COLOURS[0] for label in feature.labels]
    axes.bar(range(len(labels)), scores, color=colours, width=0.8)
    axes.grid(visible=False, axis="x")
    if len(labels) <= _NAMED:
        short_labels = [label if len(label) <= 12 else label[:11] + "…" for label in labels]
        axes.set_xticks(range(len(labels)), short_labels, rotation=90, fontsize=7)
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(labels)} values", fontsize=8)


def coefficients(model: LinearModel | Any, confidence: float = 0.95) -> Figure:
    """Every coefficient on scaled terms, with its interval: what half of a range changes.

    An interval that is unbounded is drawn as a dashed line through the whole figure. `model`
    is a fitted estimator, or its `model_`.
    """
    model = getattr(model, "model_", model)
    unit = model.target.half
    values = model.fit.coefficients[1:] * unit
    pairs = [(low * unit, high * unit) for low, high in model.fit.intervals(confidence)[1:]]
    names = fold([term.name for term in model.terms])
    tallest = max(map(count_lines, names), default=1)
    size = (6.4, 1.3 + (0.14 + 0.14 * tallest) * len(names))
    about = wrap_title(
        f"Change of {model.target.column}, with {percent(confidence)} intervals", names
    )
    figure, axes = canvas(
        about, x="for half of a column's range, or for the value", y="", size=size
    )
    axes.axvline(0, color=QUIET, linewidth=0.8)
    for place, (value, (low, high)) in enumerate(zip(values, pairs, strict=True)):
        if isfinite(low) and isfinite(high):
            axes.plot([low, high], [place, place], color="#000000", linewidth=1.2)
        else:
            axes.axhline(place, color=QUIET, linewidth=1.0, linestyle="--")
        axes.plot([value], [place], "o", color=COLOURS[0], markersize=5)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    return figure


def roc(histogram: ScoreHistogram, confidence: float = 0.95) -> Figure:
    """The ROC curve with a band: the interval of each point, both ways, by itself."""
    points = histogram.roc(confidence)
    auc = histogram.auc(confidence=confidence)
    figure, axes = canvas(
        f"ROC curve, with {percent(confidence)} intervals of each point",
        x="false positive share",
        y="true positive share",
        size=(4.8, 4.6),
    )
    upper = _envelope([(false.low, true.high) for false, true in points])
    lower = _envelope([(false.high, true.low) for false, true in points])
    spots = np.linspace(0, 1, 201)
    below = np.interp(spots, *lower)
    above = np.maximum(np.interp(spots, *upper), below)
    axes.fill_between(spots, below, above, color=COLOURS[5], alpha=0.35, linewidth=0)
    axes.plot([0, 1], [0, 1], color=QUIET, linewidth=0.8, linestyle="--")
    false, true = ([share.value for share in side] for side in zip(*points, strict=True))
    axes.plot(np.maximum.accumulate(false), np.maximum.accumulate(true), color=COLOURS[0])
    axes.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
    axes.annotate(f"AUC {auc}", (0.97, 0.05), ha="right", fontsize=9)
    return figure


def calibration(histogram: ScoreHistogram, parts: int = 10, confidence: float = 0.95) -> Figure:
    """The share of the second class at each score, with intervals, beside the diagonal."""
    figure, axes = canvas(
        f"Calibration, with {percent(confidence)} intervals",
        x="score",
        y=f"share of {histogram.classes[1]}",
        size=(4.8, 4.6),
    )
    axes.plot([0, 1], [0, 1], color=QUIET, linewidth=0.8, linestyle="--")
    for low, high, share in histogram.calibration(parts, confidence):
        _draw_whisker(axes, (low + high) / 2, share)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    return figure


def _draw_whisker(axes: Axes, place: float, reading: ScoreReading) -> None:
    axes.plot([place, place], [reading.low, reading.high], color="#000000", linewidth=1.2)
    axes.plot([place], [reading.value], "o", color=COLOURS[0], markersize=5)


def _envelope(corners: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """A rising curve through corners."""
    ordered = sorted(corners)
    return [x for x, _ in ordered], np.maximum.accumulate([y for _, y in ordered]).tolist()
