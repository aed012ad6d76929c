"""A released table hands its numbers and margins to SQL, and draws their noise again."""

import numpy as np
import pytest

from deniable.query.outer.noise_dependence import Kind
from deniable.release.asking.released_part import ReleasedPart
from tests.release.asking import outer_coverage


@pytest.fixture(scope="module")
def part():
    session = outer_coverage.make_session()[0]
    return ReleasedPart("t", session.sql(outer_coverage.AVERAGES, epsilon=1))


def test_columns_say_how_they_depend_on_noise(part):
    kinds = {name: dependence.kind for name, dependence in part.dependences().items()}
    public = dict.fromkeys(("k", "size"), Kind.PUBLIC)
    assert kinds == {**public, "mean": Kind.SMOOTH, "n": Kind.AFFINE}


def test_draw_0_is_what_was_released(part):
    first = part.first_draw(None)
    assert first.select(part.release.columns) == part.plain_table()
    assert first["n__margin"].to_pylist() == part.margins["n"].tolist()
    assert set(first["_draw"].to_pylist()) == {0}


def test_draws_and_their_opposites_lie_around_the_released_numbers(part):
    drawn = part.draw_numbers(9, opposite=True)["n"]
    assert drawn.shape == (19, 24)
    np.testing.assert_allclose(drawn[0], part.values["n"])
    np.testing.assert_allclose(drawn[1:10] + drawn[10:], 2 * drawn[:1] + np.zeros((9, 1)))
    assert np.abs(drawn[1:10] - drawn[0]).max() > 0


def test_drawn_rows_are_numbered(part):
    table = part.drawn_table(2, opposite=False, confidence=None)
    assert table["_draw"].to_pylist() == [0] * 24 + [1] * 24 + [2] * 24
    assert table["_row"].to_pylist() == list(range(24)) * 3
