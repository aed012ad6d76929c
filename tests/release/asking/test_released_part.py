"""A released table hands its numbers and margins to SQL, and draws their noise again."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from deniable.query.outer.noise_dependence import Kind
from deniable.release.asking.released_part import ReleasedPart, seeds_of
from tests.release.asking import outer_coverage


@pytest.fixture(scope="module")
def part():
    session = outer_coverage.make_session()[0]
    release = session.sql(outer_coverage.AVERAGES, epsilon=1)
    return ReleasedPart("t", release, seeds_of({"t": release})["t"])


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


def test_numbers_of_one_table_have_draws_of_their_own(part):
    errors = [redrawn.errors for redrawn in part.redraw(999).values()]
    assert len(errors) == 2
    assert abs(np.corrcoef(errors[0].ravel(), errors[1].ravel())[0, 1]) < 0.05


def test_draws_follow_from_the_table_and_the_plan_and_not_from_the_name(part):
    release = part.release
    other = ReleasedPart("u", release, seeds_of({"first": release, "u": release})["u"])
    assert (other.redraw(9)["n"].errors == part.redraw(9)["n"].errors).all()
    same = replace(release, plan=replace(release.plan, confidence=Fraction(1, 2)))
    assert seeds_of({"t": same})["t"] != part.seed


def test_releases_that_are_equal_by_chance_have_draws_of_their_own(part):
    release = part.release
    signed = replace(release.certificate, signature="other")
    chance = {"a": release, "b": replace(release, certificate=signed), "c": release}
    chance |= {"d": replace(release, certificate=None), "e": replace(release)}
    seeds = seeds_of(chance)
    assert seeds["a"] == seeds["c"] == seeds["e"]
    assert len(set(seeds.values())) == 3


def test_drawn_rows_are_numbered(part):
    table = part.drawn_table(2, opposite=False, confidence=None)
    assert table["_draw"].to_pylist() == [0] * 24 + [1] * 24 + [2] * 24
    assert table["_row"].to_pylist() == list(range(24)) * 3
