"""Pictures of models show the released numbers."""

from math import inf

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.figures import models as figures
from deniable.learn.evaluation.ratio_intervals import NoiseLaw
from deniable.learn.evaluation.score_histogram import ScoreHistogram, equal_edges
from deniable.learn.fit.linear_fit import LinearFit
from deniable.learn.fit.linear_model import LinearModel
from deniable.learn.fit.noisy_moments import NoisyMoments
from tests.learn.exports import models


def histogram(noise=2.0):
    middle = (np.arange(20) + 0.5) / 20
    counts = np.stack([300 * np.exp(-3 * middle), 100 * np.exp(2 * middle - 2)])[None]
    return ScoreHistogram(
        counts.round(), NoiseLaw(noise), equal_edges(20), classes=("no", "yes")
    )


def test_shapes_are_the_tables():
    model = models.cell_model("sigmoid", ("no", "yes"))
    figure = figures.shapes(model)
    age, sex = figure.axes[:2]
    assert age.get_title(loc="left") == "age"
    (steps,) = age.patches
    values, edges, _ = steps.get_data()
    assert np.allclose(values, model.tables[0][:3, 0])
    assert edges.tolist() == [0.0, 18.0, 65.5, 100.0]
    assert [bar.get_height() for bar in sex.patches] == pytest.approx(model.tables[1][:, 0])
    assert [label.get_text() for label in sex.get_xticklabels()] == ["f", "it's", "other"]
    assert age.get_ylabel() == "log-odds"


def test_one_shape_can_be_asked_for():
    model = models.cell_model("identity")
    (axes,) = figures.shapes(model, ["size"]).axes
    assert axes.get_ylabel() == "predicted number"
    with pytest.raises(InvalidParameter, match="no feature 'weight'"):
        figures.shapes(model, ["weight"])


def test_whiskers_are_intervals():
    model = models.linear_model()
    (axes,) = figures.coefficients(model).axes
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2][1:]
    low, high = model.fit.intervals()[1]
    assert lines[0].get_xdata() == pytest.approx([low * 10, high * 10])
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == pytest.approx((model.fit.coefficients[1:] * 10).tolist())
    assert [text.get_text() for text in axes.get_yticklabels()] == ["age", "sex=it's", "size"]


def test_an_unbounded_interval_is_a_dashed_line():
    noisy = NoisyMoments(np.diag([5.0, 1.0, 1.0, 1.0, 2.0]), 100.0)
    fit = LinearFit(noisy, (0.0,) * 4, 200.0)
    model = LinearModel.of(fit, models.terms(), models.linear_model().target)
    assert model.fit.intervals()[1] == (-inf, inf)
    (axes,) = figures.coefficients(model).axes
    assert sum(line.get_linestyle() == "--" for line in axes.lines) == 3


def test_the_roc_curve_lies_in_its_band():
    scores = histogram()
    (axes,) = figures.roc(scores).axes
    curve = axes.lines[1]
    assert curve.get_xdata()[0] == 0.0
    assert curve.get_ydata()[-1] == 1.0
    band = axes.collections[0].get_paths()[0].vertices
    top = band[:, 1].max()
    assert top <= 1.01
    assert str(scores.auc()) in axes.texts[0].get_text()


def test_calibration_has_a_whisker_for_each_range():
    (axes,) = figures.calibration(histogram(), parts=5).axes
    assert sum(line.get_marker() == "o" for line in axes.lines) == 5
    assert axes.get_ylabel() == "share of yes"
