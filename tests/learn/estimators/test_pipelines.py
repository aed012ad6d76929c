"""Steps ahead of an estimator are outside of the guarantee, and it says so."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils import get_tags

import deniable as dp
from deniable.learn import PCA, KMeans, NaiveBayes

X = np.random.default_rng(1).uniform(0, 1, (60, 2))
Y = (X[:, 0] > 0.5).astype(int)


def bayes():
    return NaiveBayes(epsilon=1, bounds=(-5, 5), classes=[0, 1])


@pytest.mark.parametrize(
    ("ahead", "named"),
    [
        ([StandardScaler()], "StandardScaler stands ahead of NaiveBayes"),
        ([StandardScaler(), MinMaxScaler()], "StandardScaler and MinMaxScaler"),
        ([FunctionTransformer(), MinMaxScaler()], "MinMaxScaler stands"),
        ([ColumnTransformer([("a", StandardScaler(), [0])])], "ColumnTransformer"),
    ],
)
def test_steps_that_are_fitted_on_rows_are_named(ahead, named):
    with pytest.warns(dp.PipelineWarning, match=named):
        make_pipeline(*ahead, bayes()).fit(X, Y)


def test_a_step_in_the_middle_is_warned_too():
    ledger = dp.MemoryLedger(epsilon=5, delta=1e-5)
    axes = PCA(1, epsilon=1, bounds=(-5, 5), ledger=ledger, neighbors="replace")
    with pytest.warns(dp.PipelineWarning, match="ahead of PCA"):
        Pipeline([("s", StandardScaler()), ("axes", axes), ("end", "passthrough")]).fit(X)


def test_nothing_is_said_where_nothing_is_fitted_ahead():
    data = dp.protect(
        pa.table({"a": X[:, 0], "y": Y}), bounds={"a": (0, 1)}, keys={"y": [0, 1]}, epsilon=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", dp.PipelineWarning)
        bayes().fit(X, Y)
        make_pipeline(FunctionTransformer(), bayes()).fit(X, Y)
        Pipeline([("no", "passthrough"), ("model", bayes())]).fit(X, Y)
        NaiveBayes(epsilon=1).fit(data.table("data"), target="y")


@pytest.mark.parametrize("kind", [PCA, KMeans])
def test_transformers_ignore_the_target_of_a_pipeline(kind):
    """As scikit-learn's own do: a pipeline hands y to every step."""
    ledger = dp.MemoryLedger(epsilon=5, delta=1e-5)
    step = kind(2, epsilon=1, bounds=(0, 1), ledger=ledger, neighbors="replace")
    assert step.fit(X, Y).transform(X).shape == (60, 2)
    assert ledger.remaining.epsilon == 4
    assert step.fit_transform(X, Y).shape == (60, 2)
    assert get_tags(step).transformer_tags is not None
