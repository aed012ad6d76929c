"""LiRA: a model that remembers its rows is found out, a private one is not."""

import numpy as np
import pytest

import deniable as dp
from deniable.audit.attack import model_membership

RNG = np.random.default_rng(11)
X = RNG.uniform(0, 1, (400, 2))
y = (X[:, 0] + RNG.normal(0, 0.3, 400) > 0.5).astype(int)


class Remembers:
    """Gives the labels of the rows that it has seen, and a guess for others."""

    classes_ = np.array([0, 1])

    def fit(self, rows, labels):
        self.known = {tuple(row): label for row, label in zip(rows, labels, strict=True)}
        return self

    def predict_proba(self, rows):
        chances = [{0: 0.1, 1: 0.9, None: 0.5}[self.known.get(tuple(row))] for row in rows]
        return np.stack([1 - np.array(chances), chances], axis=1)


def test_a_model_that_remembers_gives_its_rows_away():
    finding = model_membership(Remembers, X, y, shadows=6)
    assert finding.hits_at_hundredth == finding.hits_at_thousandth == 1
    assert finding.auc == 1


def test_a_private_model_does_not():
    def make():
        return dp.learn.NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1])

    finding = model_membership(make, X, y, shadows=6)
    assert finding.hits_at_hundredth < 0.15
    assert 0.3 < finding.auc < 0.7  # 200 members and 200 others
    assert finding.rows == 400


def test_too_few_rows_are_refused():
    with pytest.raises(dp.InvalidParameter, match="20 rows"):
        model_membership(Remembers, X[:5], y[:5])
