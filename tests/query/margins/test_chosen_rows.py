from fractions import Fraction

import numpy as np

from deniable.mechanisms import Laplace
from deniable.query.margins.chosen_rows import (
    chooses_rows,
    confidence_for_each,
    declared_groups,
)
from deniable.query.margins.margins import margins
from deniable.query.plan.plan import Feature, GroupKey, KeyColumn, Number, Operation

LEVEL = Fraction(19, 20)
N, KEY = Feature("n", 0), KeyColumn(0)
LARGE = Operation(">", (N, Number(Fraction(5))))


def test_what_chooses_rows():
    assert chooses_rows(LARGE, (), None)
    assert chooses_rows(None, ((N, True),), 3)
    assert not chooses_rows(None, ((N, True),), None)  # all rows are shown
    assert not chooses_rows(None, ((KEY, True),), 3)
    assert not chooses_rows(Operation("=", (KEY, Number(Fraction(1)))), (), None)


def test_groups_of_private_keys_are_not_known_before():
    ward = GroupKey("ward", "text", ("A", "B"))
    assert declared_groups([ward, ward], other=False) == 4
    assert declared_groups([ward, GroupKey("x", "text", None)], other=False) is None
    assert declared_groups([], other=False) == 1


def test_the_largest_of_many_are_covered_together():
    """The five largest of 400 equal counts: with margins for each group by itself, hardly any
    answer has all five covered."""
    groups, answers = 400, 2000
    noise = Laplace(epsilon=1).noise()
    noisy = 100.0 + noise.draw(groups * answers).reshape(answers, groups)
    largest = np.sort(noisy, axis=1)[:, -5:]
    each, together = (
        float(margins(N, {"n": noise}, {"n": np.array([0.0])}, confidence=level)[0])
        for level in (LEVEL, confidence_for_each(LEVEL, groups))
    )
    assert np.mean((largest - 100 <= together).all(axis=1)) >= 0.95
    assert np.mean((largest - 100 <= each).all(axis=1)) < 0.05
