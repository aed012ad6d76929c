"""Small models with made-up numbers, for tests of files, SQL and exports."""

import numpy as np

from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.feature_cells import FeatureCells
from deniable.learn.fit.linear_fit import LinearFit
from deniable.learn.fit.linear_model import LinearModel, LineModel
from deniable.learn.fit.noisy_moments import NoisyMoments
from deniable.learn.fit.place_models import AxesModel, CentreModel
from deniable.learn.fit.principal_axes import PrincipalAxes
from deniable.learn.fit.scaled_terms import ScaledTerm

AGE = FeatureCells("age", "number", ("a", "b", "c", None), (18.0, 65.5), (0.0, 100.0))
SEX = FeatureCells("sex", "text", ("f", "it's", None))
SIZE = FeatureCells("size", "number", (1, 2, 3, None), (), (1.0, 3.0))
FLAG = FeatureCells("flag", "boolean", (False, True, None))
FEATURES = (AGE, SEX, SIZE, FLAG)
VALUES = {
    "age": [3.0, 18.0, 65.4, 65.5, 200.0, -5.0],
    "sex": ["f", "it's", "x", "f", "f", "it's"],
    "size": [1, 2, 3, 0, 9, 2],
    "flag": [True, False, True, False, True, False],
}
COLUMNS = list(VALUES.values())


def cell_model(link, classes=(), scores=1):
    chance = np.random.default_rng(7)
    tables = tuple(chance.normal(size=(feature.size, scores)) for feature in FEATURES)
    return CellModel(FEATURES, tables, chance.normal(size=scores), link, classes)


def cell_models():
    return {
        "sigmoid": cell_model("sigmoid", ("no", "yes")),
        "softmax of two": cell_model("softmax", (0, 1), 2),
        "softmax": cell_model("softmax", ("a", "b", "c"), 3),
        "rest": cell_model("one-against-rest", ("a", "b", "c"), 3),
        "identity": cell_model("identity"),
    }


def terms():
    sex = ScaledTerm("sex", cells=SEX, code=1)
    return ScaledTerm("age", 50.0, 50.0), sex, ScaledTerm("size", 2.0, 1.0)


def linear_model():
    chance = np.random.default_rng(3)
    rows = chance.uniform(-1, 1, size=(200, 5))
    rows[:, 0] = 1.0
    rows[:, 4] = np.clip(rows[:, 1] - rows[:, 2] / 2, -1, 1)
    fit = LinearFit(NoisyMoments(rows.T @ rows, 2.0), (0.0, 1.0, 1.0, 1.0))
    return LinearModel.of(fit, terms(), ScaledTerm("pay", 20.0, 10.0))


def line_model():
    return LineModel(terms()[:1], ScaledTerm("pay", 20.0, 10.0), np.array([0.25]), 12.5)


def centre_model():
    numbers = (terms()[0], terms()[2])
    return CentreModel(numbers, np.array([[-0.5, 0.0], [0.5, 0.5], [0.9, -0.7]]))


def axes_model(scaled=False):
    numbers = (terms()[0], terms()[2])
    rows = np.random.default_rng(5).uniform(-1, 1, size=(50, 3))
    rows[:, 0] = 1.0
    units = [1.0, 1.0] if scaled else [50.0, 1.0]
    axes = PrincipalAxes.fit(NoisyMoments(rows.T @ rows, 0.5), 2, units)
    return AxesModel(numbers, axes, scaled, 0.25)
