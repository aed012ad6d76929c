"""Estimators in files: saved, loaded, and refused if the file is not ours."""

import json

import numpy as np
import pytest
from sklearn.utils.validation import check_is_fitted

from deniable import learn
from deniable.errors import InvalidData, InvalidParameter

ROWS = np.array([[0.0, 3.0], [1.0, 2.0], [0.0, 1.0], [1.0, 0.0]] * 50)
CLASSES = ROWS[:, 0].astype(int)


def fitted(name):
    kind = getattr(learn, name)
    if name in ("KMeans", "PCA"):
        return kind(2, epsilon=1, bounds=(0, 3)).fit(ROWS)
    if name == "RobustSlope":
        return kind(epsilon=1, bounds=(0, 3), target_bounds=(0, 1)).fit(ROWS[:, :1], CLASSES)
    if name in ("Ridge", "LinearRegression"):
        return kind(epsilon=1, bounds=(0, 3), target_bounds=(0, 1)).fit(ROWS, CLASSES)
    return kind(epsilon=1, bounds=(0, 3), classes=[0, 1]).fit(ROWS, CLASSES)


@pytest.mark.parametrize(
    "name", ["NaiveBayes", "Ridge", "LinearRegression", "RobustSlope", "KMeans", "PCA"]
)
def test_what_is_loaded_predicts_the_same(name, tmp_path):
    model = fitted(name)
    path = learn.save(model, tmp_path / "model.json")
    read = learn.load(path)
    assert type(read) is type(model)
    check_is_fitted(read)  # as a pipeline of scikit-learn asks it
    ask = "transform" if name == "PCA" else "predict"
    rows = ROWS[:4, : model.n_features_in_]
    assert np.array_equal(getattr(read, ask)(rows), getattr(model, ask)(rows))
    assert read.price_ == model.price_
    assert read.loss_ == model.loss_
    assert [certificate.to_dict() for certificate in read.certificates_] == [
        certificate.to_dict() for certificate in model.certificates_
    ]
    assert len(read.certificates_) >= 1
    if name == "Ridge":
        assert read.intervals() == model.intervals()
    again = learn.save(read, tmp_path / "again.json")
    assert again.read_bytes() == path.read_bytes()


def test_certificates_may_be_left_out(tmp_path):
    path = learn.save(fitted("NaiveBayes"), tmp_path / "model.json", certificates=False)
    assert json.loads(path.read_text())["certificates"] == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": "pickle"}, "not a model file"),
        ({"version": 2}, "version 2"),
        ({"version": True}, "version True"),
        ({"estimator": "os.system"}, "must be one of"),
        ({"estimator": "KMeans"}, "not one of KMeans"),
        ({"estimator": "AdditiveRegressor"}, "does not fit"),
        ({"epsilon": "1e9"}, "price is not readable"),
        ({"epsilon": "-1"}, "above 0"),
        ({"delta": "2"}, "above 0"),
        ({"neighbors": "none"}, "add-remove"),
        ({"certificates": {}}, "must be a list"),
        ({"certificates": [{}]}, "certificate"),
        ({"more": 1}, "lacks a field"),
        ({"model": None}, "named fields"),
    ],
)
def test_hostile_files_are_refused(changed, message, tmp_path):
    path = learn.save(_model(), tmp_path / "model.json", certificates=False)
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises((InvalidData, InvalidParameter, ValueError), match=message):
        learn.load(path)


def test_a_line_has_its_own_form_and_no_delta(tmp_path):
    line, ridge = (
        json.loads(learn.save(fitted(name), tmp_path / "model.json").read_text())
        for name in ("RobustSlope", "Ridge")
    )
    for changed, message in (
        ({"delta": "1/1000"}, "has no delta"),
        ({"model": ridge["model"]}, "not one of RobustSlope"),
        ({"estimator": "Ridge"}, "not one of Ridge"),
        ({"model": line["model"] | {"terms": line["model"]["terms"][:1]}}, "entries"),
    ):
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(line | changed))
        with pytest.raises(InvalidData, match=message):
            learn.load(path)


_FITTED = []


def _model():
    if not _FITTED:
        _FITTED.append(fitted("NaiveBayes"))
    return _FITTED[0]


@pytest.mark.parametrize(
    "source",
    [b"", b"\x80\x04\x95", b"[" * 300, b'{"a": 1, "a": 2}', b"[NaN]", b"[]", b"\xff\xfe"],
)
def test_other_files_are_refused(source, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(source)
    with pytest.raises(InvalidData, match="not a model file"):
        learn.load(path)


def test_paths_are_checked(tmp_path):
    with pytest.raises(InvalidParameter, match="cannot be read"):
        learn.load(tmp_path / "none.json")
    with pytest.raises(InvalidParameter, match="cannot be written"):
        learn.save(_model(), tmp_path / "none" / "model.json")


def test_only_fitted_estimators_are_saved(tmp_path):
    with pytest.raises((InvalidParameter, ValueError), match="not fitted"):
        learn.save(learn.Ridge(), tmp_path / "model.json")
    with pytest.raises(InvalidParameter, match="cannot be saved"):
        learn.save(object(), tmp_path / "model.json")


@pytest.mark.parametrize("bounds", [(1e15, 1e15 + 1), (-1e55, 1e55), (0, 1e-19), (5, 5.25)])
def test_models_with_odd_bounds_can_be_loaded(bounds, tmp_path):
    rows = np.linspace(*bounds, 40).reshape(-1, 1)
    bayes = learn.NaiveBayes(epsilon=9, bounds=bounds, classes=[0, 1])
    ridge = learn.Ridge(epsilon=9, bounds=bounds, target_bounds=(0, 1))
    for model in (bayes, ridge):
        model.fit(rows, [0] * 20 + [1] * 20)
        read = learn.load(learn.save(model, tmp_path / "model.json"))
        assert np.array_equal(read.predict(rows), model.predict(rows))
