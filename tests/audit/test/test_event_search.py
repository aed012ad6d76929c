"""The search finds the event that a textbook would name."""

import numpy as np
import pytest

from deniable.audit.test.event_search import search_events
from deniable.audit.test.outputs import OutputReader

RNG = np.random.default_rng(11)
N = 20_000


def best(x, y, epsilon=1.0, delta=0.0):
    reader = OutputReader()
    finding = search_events(reader.read(x), reader.read(y), [(epsilon, delta)])
    return finding.evidence[0], reader


def rates(question, reader, x, y):
    hits = [question.event.hits(reader.read(each)).mean() for each in (x, y)]
    hits = [1 - each for each in hits] if question.negated else hits
    return hits[::-1] if question.turned else hits


@pytest.mark.parametrize(
    ("draw", "least"),
    [
        pytest.param(lambda m: m + RNG.laplace(size=N) / 2, 0.5, id="a threshold"),
        pytest.param(lambda m: RNG.normal(size=N) * (1 + 3 * m), 0.2, id="both tails"),
        pytest.param(lambda m: RNG.integers(0, 2 + m, N), 0.3, id="a value"),
        pytest.param(lambda m: 2 * RNG.integers(0, 500, N) + m, 0.9, id="a parity"),
        pytest.param(lambda m: RNG.integers(0, 1 << 20, N) / 4 + m / 8, 0.9, id="low bits"),
    ],
)
def test_single_numbers(draw, least):
    x, y = draw(0), draw(1)
    question, reader = best(x, y)
    p, q = rates(question, reader, draw(0), draw(1))
    assert p > np.e * q + 0.01
    assert p > least


def test_a_relation_between_coordinates():
    def draw(m):
        z = RNG.laplace(size=N) * 50
        return np.column_stack([z, z + m])

    question, reader = best(draw(0), draw(1))
    p, q = rates(question, reader, draw(0), draw(1))
    assert p > 0.95
    assert q < 0.05


def test_two_features_together():
    def draw(m):
        sign = RNG.integers(0, 2, N)
        return np.column_stack([sign, sign ^ (RNG.random(N) < 0.1) ^ m])

    p, q = rates(*best(draw(0), draw(1)), draw(0), draw(1))
    assert p > 0.85
    assert q < 0.15


def test_nothing_to_find_finds_nothing_much():
    x, y = RNG.laplace(size=(2, N))
    question, _ = best(x, y, epsilon=0.5)
    assert question.value < 5
