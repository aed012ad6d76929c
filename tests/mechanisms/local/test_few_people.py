from math import comb

import numpy as np
import pytest

from deniable.mechanisms import NumberOrNot, Tally
from deniable.mechanisms.local.few_people import careful_quantile, careful_variance


def test_few_who_may_decline_are_covered(size):
    """All outcomes of a survey are enumerated, so the coverage is exact. Before, it was down to
    88 % at odds of 3, and 37 % at odds of 20."""
    most = size(small=12, full=40, what="people who may decline")
    for odds in (3, 20):
        design = NumberOrNot(odds=odds, low=0, high=1)
        p, q = float(design.response.p), float(design.response.q)
        for n in {10, most}:
            outcomes = [(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]
            ends = np.array(
                [design.estimate(counts=Tally(design, c, n)).interval for c in outcomes]
            )
            for mean in (0.0, 0.1, 0.5, 1.0):
                for declined in (0.0, 0.4):
                    answered = 1 - declined
                    rates = [q + (p - q) * answered * (1 - mean), q + (p - q) * answered * mean]
                    rates.append(1 - sum(rates))
                    chance = np.array(
                        [
                            comb(n, c[0]) * comb(n - c[0], c[1]) * np.prod(np.power(rates, c))
                            for c in outcomes
                        ]
                    )
                    inside = (ends[:, 0] <= mean + 1e-9) & (mean - 1e-9 <= ends[:, 1])
                    assert chance[inside].sum() >= 0.949


def test_with_many_people_nothing_is_added():
    assert careful_quantile(1e8, 0.95) == pytest.approx(1.96, abs=1e-3)
    assert careful_variance(1e-4, 0.3, 1e6) == pytest.approx(1e-4, rel=1e-4)
