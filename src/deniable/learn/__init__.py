"""Private models that fit scikit-learn, from exact integers.

A step of learning is one sum of whole numbers in the engine. So one person's effect on it is
known, the kernel checks it, and a model trains where the data is.

>>> import numpy as np
>>> from deniable import learn
>>> X = np.array([[0.0], [1.0]] * 500)
>>> model = learn.NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1])
>>> model.fit(X, X[:, 0].astype(int)).predict([[0.0], [1.0]]).tolist()
[0, 1]
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from deniable.learn.estimators.additive_model import AdditiveModel
    from deniable.learn.estimators.additive_regressor import AdditiveRegressor
    from deniable.learn.estimators.clusters import KMeans
    from deniable.learn.estimators.components import PCA
    from deniable.learn.estimators.folds import CrossValidation, Folds, cross_validate
    from deniable.learn.estimators.linear_regression import LinearRegression, Ridge
    from deniable.learn.estimators.logistic_regression import LogisticRegression
    from deniable.learn.estimators.model_certificates import VerifiedModel, verify
    from deniable.learn.estimators.model_files import load, save
    from deniable.learn.estimators.naive_bayes import NaiveBayes
    from deniable.learn.estimators.robust_slope import RobustSlope
    from deniable.learn.exports.scikit_objects import to_sklearn
    from deniable.learn.exports.sql_expression import to_sql
    from deniable.learn.measure.holding_out import hold_out
    from deniable.learn.measure.private_cuts import private_cuts
    from deniable.learn.measure.unit_features import with_features

__all__ = [
    "PCA",
    "AdditiveModel",
    "AdditiveRegressor",
    "CrossValidation",
    "Folds",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "Ridge",
    "RobustSlope",
    "VerifiedModel",
    "cross_validate",
    "hold_out",
    "load",
    "private_cuts",
    "save",
    "to_sklearn",
    "to_sql",
    "verify",
    "with_features",
]

_MODULES = {
    "AdditiveModel": "deniable.learn.estimators.additive_model",
    "AdditiveRegressor": "deniable.learn.estimators.additive_regressor",
    "CrossValidation": "deniable.learn.estimators.folds",
    "Folds": "deniable.learn.estimators.folds",
    "KMeans": "deniable.learn.estimators.clusters",
    "LinearRegression": "deniable.learn.estimators.linear_regression",
    "LogisticRegression": "deniable.learn.estimators.logistic_regression",
    "NaiveBayes": "deniable.learn.estimators.naive_bayes",
    "PCA": "deniable.learn.estimators.components",
    "Ridge": "deniable.learn.estimators.linear_regression",
    "cross_validate": "deniable.learn.estimators.folds",
    "RobustSlope": "deniable.learn.estimators.robust_slope",
    "VerifiedModel": "deniable.learn.estimators.model_certificates",
    "hold_out": "deniable.learn.measure.holding_out",
    "load": "deniable.learn.estimators.model_files",
    "private_cuts": "deniable.learn.measure.private_cuts",
    "save": "deniable.learn.estimators.model_files",
    "to_sklearn": "deniable.learn.exports.scikit_objects",
    "to_sql": "deniable.learn.exports.sql_expression",
    "verify": "deniable.learn.estimators.model_certificates",
    "with_features": "deniable.learn.measure.unit_features",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'deniable.learn' has no attribute {name!r}")
    value: object = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
