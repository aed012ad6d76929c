"""What others reach on the tables of `benchmarks.learning`, on the same rows in the same run.

diffprivlib's models promise pure epsilon, interpret's (epsilon, delta); scikit-learn's promise
nothing. Each is given the same declared bounds and keys, and its own defaults otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.learning_data import Task

Scores = Any
Peer = Callable[[Task, Any, Any, float, float], Scores]


def one_hot(task: Task, rows: Any) -> Any:
    """Numbers scaled to [0, 1] by their bounds, texts as one column for each key."""
    parts = []
    for name, (low, high) in task.bounds.items():
        values = np.clip(np.asarray(task.columns[name])[rows], low, high)
        parts.append(((values - low) / (high - low))[:, None])
    for name, keys in task.keys.items():
        parts.append(np.asarray(task.columns[name])[rows][:, None] == np.array(keys))
    return np.hstack(parts).astype(float)


def logistic(task: Task, train: Any, test: Any, epsilon: float, delta: float) -> Scores:
    """scikit-learn's logistic regression, without privacy."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=2_000)
    model.fit(one_hot(task, train), task.target[train])
    return model.predict_proba(one_hot(task, test))[:, 1]


def interpret_boosting(
    task: Task, train: Any, test: Any, epsilon: float, delta: float
) -> Scores:
    """interpret's private explainable boosting."""
    from interpret.privacy import DPExplainableBoostingClassifier

    kinds = ["continuous"] * len(task.numbers) + ["nominal"] * len(task.texts)
    names = task.numbers + task.texts
    model = DPExplainableBoostingClassifier(
        feature_names=names,
        feature_types=kinds,
        epsilon=epsilon,
        delta=delta,
        privacy_bounds={name: tuple(map(float, ends)) for name, ends in task.bounds.items()},
        n_jobs=1,
    )
    columns = task.columns
    rows = np.array([np.asarray(columns[name], dtype=object) for name in names]).T
    model.fit(rows[train], task.target[train])
    return model.predict_proba(rows[test])[:, 1]


def diffprivlib_logistic(
    task: Task, train: Any, test: Any, epsilon: float, delta: float
) -> Scores:
    """diffprivlib's logistic regression, with the norm that the encoding has at most."""
    from diffprivlib.models import LogisticRegression

    norm = float(np.sqrt(len(task.numbers) + len(task.texts)))
    model = LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1_000)
    model.fit(one_hot(task, train), task.target[train])
    return model.predict_proba(one_hot(task, test))[:, 1]


def diffprivlib_bayes(
    task: Task, train: Any, test: Any, epsilon: float, delta: float
) -> Scores:
    """diffprivlib's Gaussian naive Bayes, on the numbers: it does better without the texts."""
    from diffprivlib.models import GaussianNB

    rows = np.array([np.asarray(task.columns[name], dtype=float) for name in task.numbers]).T
    low, high = zip(*task.bounds.values(), strict=True)
    model = GaussianNB(epsilon=epsilon, bounds=(np.array(low), np.array(high)))
    model.fit(rows[train], task.target[train])
    return model.predict_proba(rows[test])[:, 1]


def diffprivlib_forest(
    task: Task, train: Any, test: Any, epsilon: float, delta: float
) -> Scores:
    """diffprivlib's random forest."""
    from diffprivlib.models import RandomForestClassifier

    model = RandomForestClassifier(epsilon=epsilon, bounds=(0, 1), classes=[0, 1])
    model.fit(one_hot(task, train), task.target[train])
    return model.predict_proba(one_hot(task, test))[:, 1]


PEERS: dict[str, tuple[str, Peer]] = {
    "logistic regression": ("scikit-learn, not private", logistic),
    "private boosting": ("interpret", interpret_boosting),
    "private logistic regression": ("diffprivlib", diffprivlib_logistic),
    "private Gaussian naive Bayes": ("diffprivlib", diffprivlib_bayes),
    "private random forest": ("diffprivlib", diffprivlib_forest),
}


_MODULES = {
    "diffprivlib": "diffprivlib.models",
    "interpret": "interpret.privacy",
    "scikit-learn, not private": "sklearn.linear_model",
}


def check_peers(makers: Iterable[str]) -> None:
    """Imports what the peers need, so that a run of an hour does not end at one of them.

    diffprivlib imports a name that newer releases of scikit-learn no longer have.
    """
    missing = []
    for maker in makers:
        try:
            import_module(_MODULES[maker])
        except ImportError as problem:
            missing.append(f"{maker} ({problem})")
    if missing:
        raise SystemExit(
            f"These peers cannot be imported: {'; '.join(missing)}. They can in an environment "
            "of `make .venv/installed-bench`, whose scikit-learn diffprivlib knows. --only "
            "leaves them out, for example   --only Deniable."
        )


def quiet(peer: Peer) -> Peer:
    """The peer without its warnings about versions, convergence and threads."""

    def run(task: Task, train: Any, test: Any, epsilon: float, delta: float) -> Scores:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return peer(task, train, test, epsilon, delta)

    return run
