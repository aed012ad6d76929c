"""All records of a toy domain, both relations, several rows a person: no step moves by more
than it declares."""

from functools import cache
from math import sqrt

import numpy as np
import pytest

from deniable import learn
from deniable.learn.estimators import additive_model
from tests.learn import toy

NUMBERS = (0.0, 9.0)
ROUNDS = 2  # of additive models: a step of the last is looked at, and all rounds are alike
CASES = {
    "naive Bayes": (learn.NaiveBayes, {"classes": toy.CLASSES}, 1.0),
    "naive Bayes, Gaussian": (
        learn.NaiveBayes,
        {"classes": toy.CLASSES, "delta": 1e-6},
        1.0,
    ),
    "logistic": (learn.LogisticRegression, {"classes": toy.CLASSES}, 0.4),
    "additive": (learn.AdditiveModel, {"classes": toy.CLASSES}, 0.4),
    "additive, three classes": (
        learn.AdditiveModel,
        {"classes": (*toy.CLASSES, "perhaps")},
        0.4,
    ),
    "regression": (learn.AdditiveRegressor, {"target_bounds": (0, 9)}, 0.5),
}


@cache
def fit(case, neighbors, rows):
    kind, options, _ = CASES[case]
    number = kind is learn.AdditiveRegressor
    classes = NUMBERS if number else toy.CLASSES
    model = kind(
        epsilon=4,
        neighbors=neighbors,
        unit="person",
        max_rows_per_unit=rows,
        **toy.DECLARED,
        **options,
    )
    with pytest.MonkeyPatch.context() as patch:
        steps = toy.watch(patch)
        patch.setattr(additive_model, "ROUNDS", ROUNDS)
        model.fit(toy.frame(people=20), toy.target(classes=classes))
    return steps, classes


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("case", CASES)
def test_no_unit_moves_a_step_by_more_than_it_declares(case, neighbors, size):
    for rows in range(2, 1 + size(small=2, full=4, what="rows of a person in a toy domain")):
        steps, classes = fit(case, neighbors, rows)
        shares = []
        for step in (steps[0], steps[1 % len(steps)], steps[-1]):
            assert toy.declared_covers(step)
            shares.append(toy.largest_share(step, toy.vectors_of(step, classes)))
        print(f"{case}, {neighbors}, {rows} rows: largest shares {shares}")
        assert max(shares) <= 1 + 1e-12
        assert min(shares) >= CASES[case][2] - 1e-3


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_sensitivities_are_those_of_the_docstrings(neighbors):
    rows, replaced, features, edge = (
        2,
        neighbors == "replace",
        2,
        32757,
    )  # of the residuals' table
    counts, first = fit("logistic", neighbors, rows)[0][:2]
    assert counts.l1 == features * rows * (2 if replaced else 1)
    assert counts.l2_squared == features * rows**2 * (2 if replaced else 1)
    once = edge * rows * sqrt(features + 1) * (2 if replaced else 1)
    assert sqrt(first.l2_squared) == pytest.approx(once, rel=1e-12)
    assert once <= 2 ** (16 if replaced else 15) * rows * sqrt(features + 1)
    leaf = fit("additive", neighbors, rows)[0][-1]
    assert sqrt(leaf.l2_squared) == edge * rows * (2 if replaced else 1)
    several = fit("additive, three classes", neighbors, rows)[0][-1]
    assert several.l2_squared == 3 * leaf.l2_squared
    clipped = fit("regression", neighbors, rows)[0][-1]
    highest = clipped.program.columns[-1] - 1
    assert sqrt(clipped.l2_squared) == highest // 4 * rows * (2 if replaced else 1)


@pytest.mark.parametrize("case", CASES)
def test_python_adds_up_what_the_engine_adds_up(case):
    steps, classes = fit(case, "add-remove", 2)
    for step in (steps[0], steps[-1]):
        last = step.program.columns[-1]
        scale = (last - 1) / 9 if classes == NUMBERS else 1
        codes = np.array(
            [
                [
                    toy.COLOURS.index(colour),
                    toy.AGES.index(age),
                    round(classes[toy.CLASSES.index(label)] * scale)
                    if classes == NUMBERS
                    else toy.CLASSES.index(label),
                ]
                for colour, age, label in toy.RECORDS
            ]
        )
        vectors = toy.vectors_of(step, classes)
        for record, vector in zip(codes, vectors, strict=True):
            assert toy.in_python(step, record[None, :]).tolist() == vector.tolist()
