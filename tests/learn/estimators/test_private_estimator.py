"""The manner of scikit-learn: parameters, clones, and one ledger for all of them."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.estimator_checks import check_estimator

import deniable as dp
from deniable.errors import InvalidParameter, SplitterWarning
from deniable.learn import PCA, AdditiveRegressor, KMeans, NaiveBayes, Ridge
from deniable.learn.estimators.private_estimator import gaussian_loss
from deniable.ledger import MemoryLedger
from deniable.ledger.run_requests import RunRequest

X, Y = [[0.0], [1.0]] * 50, [0, 1] * 50
# The checks of scikit-learn that are not passed, and why.
NOT_PASSED = {
    "check_estimators_overwrite_params": "it copies the estimator, and a ledger refuses that",
    "check_estimators_pickle": "it pickles the estimator, and a ledger refuses that",
    "check_set_params": "it copies the parameters, and a ledger refuses that",
    "check_estimators_empty_data_messages": "how many rows there are is private",
    "check_classifiers_classes": "classes are declared, and not read from the data",
    "check_classifiers_train": "classes are declared, and not read from the data",
    "check_classifiers_regression_target": "rows of undeclared classes do not count",
    "check_supervised_y_no_nan": "rows without a target do not count; an error would tell",
    "check_supervised_y_2d": "a column of targets is taken as it is, without a warning",
    "check_n_features_in_after_fitting": "a protected table names its columns",
    "check_pipeline_consistency": "fits differ by their noise",
    "check_fit_idempotent": "fits differ by their noise",
    "check_transformer_general": "fits differ by their noise",
    "check_transformer_data_not_an_array": "fits differ by their noise",
    "check_array_api_input": "not asked for",
    "check_regressors_int": "fits differ by their noise",
    "check_regressor_data_not_an_array": "fits differ by their noise",
    "check_regressors_train": "the noise is large against 200 rows in wide bounds",
}


def test_a_clone_without_a_ledger_refuses_to_fit():
    model = NaiveBayes(bounds=(0, 1), classes=[0, 1])
    with pytest.raises(InvalidParameter, match="ledger"):
        clone(model).fit(X, Y)
    model.fit(X, Y)


def test_clones_share_one_ledger():
    ledger = dp.MemoryLedger(epsilon=3)
    model = NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    other = clone(model)
    assert other.ledger is ledger
    assert other.get_params() == model.get_params()
    model.fit(X, Y)
    with pytest.warns(SplitterWarning):
        other.fit(X, Y)
    assert ledger.remaining.epsilon == 1


def test_parameters_and_kinds():
    model = NaiveBayes(epsilon=2)
    assert repr(model) == "NaiveBayes(epsilon=2)"
    assert model.set_params(epsilon=3).get_params()["epsilon"] == 3
    with pytest.raises(InvalidParameter, match="epsilon"):
        model.set_params(epsilom=3)
    assert is_classifier(model)
    assert is_regressor(AdditiveRegressor())


CHECKED = [
    (PCA, {}),  # alone at small size: it is the quickest
    (NaiveBayes, {"classes": [0, 1]}),
    (KMeans, {}),
    (Ridge, {"target_bounds": (-100, 100)}),
]


@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_scikit_learn_that_are_not_passed_are_listed(size):
    count = size(small=1, full=len(CHECKED), what="estimators under scikit-learn's checks")
    for kind, declared in CHECKED[:count]:
        ledger = dp.MemoryLedger(epsilon=10**6, delta=0.5)
        model = kind(epsilon=50, bounds=(-10, 10), ledger=ledger, **declared)
        checks = check_estimator(model, on_fail=None)
        left = {check["check_name"] for check in checks if check["status"] != "passed"}
        assert left - set(NOT_PASSED) == set()
        assert len(checks) - len(left) > 30


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({"unit": "nobody"}, "unit='nobody', but data has who"),
        ({"neighbors": "replace"}, "neighbors='replace', but here it is add-remove"),
        ({"ledger": dp.MemoryLedger(epsilon=1)}, "the session charges its own"),
    ],
    ids=["unit", "neighbors", "ledger"],
)
def test_declarations_against_a_protected_table_are_refused(declared, why):
    rows = pa.table({"who": [1, 2], "x": [0.0, 1.0], "y": [False, True]})
    data = dp.protect(rows, unit="who", bounds={"x": (0, 1)}, epsilon=1)
    with pytest.raises(InvalidParameter, match=why):
        NaiveBayes(epsilon=1, **declared).fit(data.table("data"), target="y")
    assert data.remaining.epsilon == 1
    agreed = NaiveBayes(epsilon=1, unit="WHO", ledger=data.ledger)
    assert agreed.explain(data.table("data"), target="y")


def test_units_are_not_declared_for_a_table_of_rows():
    data = dp.protect(pa.table({"x": [0.0], "y": [True]}), bounds={"x": (0, 1)}, epsilon=1)
    with pytest.raises(InvalidParameter, match="data has rows as units"):
        NaiveBayes(epsilon=1, unit="x").explain(data.table("data"), target="y")


@pytest.mark.parametrize("delta", ["1/1000000", "1/1000"])
def test_a_training_costs_its_ledger_no_more_than_its_price(delta):
    """A ledger rounds up. A session about arrays has the price as its whole budget, so each
    price must be affordable: 0.3 and 0.7 were charged 1e-15 more."""
    for tenths in range(1, 41):
        price = Fraction(tenths, 10), Fraction(delta)
        loss = gaussian_loss(*price)
        request = RunRequest.of_loss(loss, tables=("data",), delta=price[1])
        assert 0.999 * price[0] < request.epsilon <= price[0]
        ledger = MemoryLedger(epsilon=price[0], delta=price[1])
        ledger.reserve_run(loss, tables=["data"], delta=price[1])


@pytest.mark.parametrize("epsilon", [0.3, 0.7])
def test_prices_that_were_refused_are_taken(epsilon):
    model = Ridge(epsilon=epsilon, delta=1e-6, bounds=(0, 1), target_bounds=(0, 1))
    assert np.isfinite(model.fit(np.ones((9, 1)), np.ones(9)).coef_).all()
