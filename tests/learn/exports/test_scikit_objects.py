"""Objects of scikit-learn that predict what the model predicts."""

import builtins
import pickle

import numpy as np
import pytest

from deniable.errors import InvalidParameter, MissingExtra
from deniable.learn.exports.scikit_objects import to_sklearn
from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.feature_cells import FeatureCells
from tests.learn.exports import models

ROWS = np.array(list(zip(*models.COLUMNS, strict=True)), dtype=object)
COLUMNS = [list(column) for column in ROWS.T]


@pytest.mark.parametrize("name", models.cell_models())
def test_cells_predict_the_same(name):
    model = models.cell_models()[name]
    classifier = pickle.loads(pickle.dumps(to_sklearn(model)))
    if model.link == "identity":
        assert np.allclose(classifier.predict(ROWS), model.scores(COLUMNS)[:, 0])
        return
    assert np.allclose(classifier.predict_proba(ROWS), model.probabilities(COLUMNS))
    wanted = np.array(model.classes)[model.probabilities(COLUMNS).argmax(axis=1)]
    assert np.array_equal(classifier.predict(ROWS), wanted)


def test_classes_in_another_order_keep_their_names():
    model = models.cell_model("sigmoid", ("yes", "no"))
    classifier = to_sklearn(model)
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert np.allclose(classifier.predict_proba(ROWS)[:, ::-1], model.probabilities(COLUMNS))
    three = models.cell_model("softmax", ("c", "a", "b"), 3)
    probabilities = to_sklearn(three).predict_proba(ROWS)
    assert np.allclose(probabilities, three.probabilities(COLUMNS)[:, [1, 2, 0]])


def test_linear_models_clusters_and_axes_predict_the_same():
    linear, centres = models.linear_model(), models.centre_model()
    columns = dict(zip(models.VALUES, COLUMNS, strict=True))
    predictions = to_sklearn(linear).predict(ROWS[:, :3])
    assert np.allclose(np.clip(predictions, *linear.limits), linear.predict(columns))
    line = models.line_model()
    predictions = to_sklearn(line).predict(ROWS[:, :1])
    assert np.allclose(np.clip(predictions, *line.limits), line.predict(columns))
    numbers = ROWS[:, [0, 2]].astype(float)
    assert np.array_equal(to_sklearn(centres).predict(numbers), centres.nearest(columns))
    inside = np.clip(numbers, [0, 1], [100, 3])
    axes = models.axes_model()
    columns = {"age": inside[:, 0].tolist(), "size": inside[:, 1].tolist()}
    assert np.allclose(to_sklearn(axes).transform(inside), axes.coordinates(columns))


def test_what_has_no_form_is_refused():
    with pytest.raises(InvalidParameter, match="no form"):
        to_sklearn("model")
    day = FeatureCells("day", "date", ("a", "b"), ("2020-01-01",))
    model = CellModel((day,), (np.zeros((2, 1)),), np.zeros(1), "identity")
    with pytest.raises(InvalidParameter, match="dates"):
        to_sklearn(model)


def test_without_scikit_learn_the_error_says_how_to_install_it(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **named):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match="pip install scikit-learn"):
        to_sklearn(models.centre_model())
