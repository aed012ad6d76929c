"""Columns as whole numbers between -255 and 255, and products of all pairs."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from deniable import audit, learn
from deniable.errors import InvalidParameter
from deniable.learn.fit.feature_cells import FeatureCells
from deniable.learn.fit.noisy_sums import NoisySums
from deniable.learn.measure.column_roles import CellRole, GridRole
from deniable.learn.measure.moment_step import SCALE, code_terms, moment_program, read_moments
from deniable.privacy import GaussianLoss
from tests.learn.movement import contributions

MU_SQUARED = Fraction(1)
DELTA = Fraction(1, 10**5)
TOY = pa.table({"a": [0, 1, 2], "b": [0, 1, 0]})


def grid(size):
    return GridRole("n", Fraction(0), Fraction(1), size, None)


@pytest.mark.parametrize("size", [2, 3, 7, 256])
def test_grids_reach_both_ends_and_are_symmetric(size):
    (coded,) = code_terms([grid(size)])
    entries = np.array(coded.entries)
    assert (entries[0], entries[-1]) == (-SCALE, SCALE)
    assert (np.abs(entries + entries[::-1]) <= 1).all()
    assert np.allclose(entries / SCALE, coded.term.read(range(size)), atol=0.5 / SCALE + 1e-12)


def test_a_constant_column_says_nothing():
    (coded,) = code_terms([grid(1)])
    assert coded.entries == (0,)


def test_values_but_the_first_are_terms():
    cells = FeatureCells("t", "text", ("x", "y", "z", None))
    coded = code_terms([CellRole(cells, None), grid(2)])
    assert [own.term.name for own in coded] == ["t=y", "t=z", "n"]
    assert coded[0].entries == (0, SCALE, 0, 0)
    assert [own.place for own in coded] == [0, 0, 1]


def test_every_ordered_pair_is_asked_once():
    program = moment_program([2, 3], code_terms([grid(2), grid(3)]))
    assert len(program.values) == 9
    assert program.value_ranges[0] == (SCALE**2, SCALE**2)
    assert all(max(-low, high) == SCALE**2 for low, high in program.value_ranges)
    texts = [value.sql().sql("duckdb") for value in program.values]
    assert texts == [texts[3 * (i % 3) + i // 3] for i in range(9)]  # the engine adds up six
    assert len(set(texts)) == 6
    with pytest.raises(InvalidParameter, match="name fewer"):
        moment_program([2] * 60, code_terms([grid(2)] * 60))


def test_the_two_sums_of_a_pair_are_averaged():
    sums = NoisySums(np.array([[4, 1, 3, 9]]) * SCALE**2, Fraction(SCALE**4), gaussian=True)
    moments = read_moments(sums)
    assert moments.matrix.tolist() == [[4.0, 2.0], [2.0, 9.0]]
    assert moments.deviation == 1.0


class NoisyStep:
    """The sums of z z' over some records of the toy domain, with the noise of its plan."""

    def __init__(self, neighbors):
        model = learn.Ridge(
            bounds={"a": (0, 2), "b": (0, 1)}, target_bounds=(0, 2), neighbors=neighbors
        )
        data = model.open(TOY, [0, 2, 1], None)
        training = model.prepare(data)
        program = moment_program(training.sizes, code_terms(training.roles))
        plan = training.planner.plan_step(program, "z z'", mu_squared=MU_SQUARED, delta=DELTA)
        data.close()
        self.mechanism, self.rows = plan.blocks[0].mechanism, contributions(program)

    def __call__(self, records):
        return self.many(records, 1)[0]

    def many(self, records, count):
        exact = self.rows[list(records)].sum(axis=0)
        return self.mechanism.release(np.tile(exact, (count, 1)))


def _furthest(rows, neighbors):
    """Two tables of few records that differ as much as one row can make them."""
    if neighbors == "add-remove":
        return (0, 3), (0, 3, int((rows.astype(float) ** 2).sum(axis=1).argmax()))
    apart = ((rows[:, None] - rows[None]).astype(float) ** 2).sum(axis=2)
    first, second = np.unravel_index(apart.argmax(), apart.shape)
    return (0, int(first)), (0, int(second))


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_one_noisy_step_keeps_its_claim(size, neighbors):
    calls = size(small=20_000, full=1_000_000, what=f"noisy steps of z z', {neighbors}")
    step = NoisyStep(neighbors)
    pair = _furthest(step.rows, neighbors)
    verdict = audit.test(step, [pair], GaussianLoss(mu_squared=MU_SQUARED), calls=calls)
    print(verdict)
    assert not verdict.violated
    low = GaussianLoss(mu_squared=MU_SQUARED / 9)  # power: a third of the loss is refuted
    assert audit.test(step, [pair], low, calls=calls).violated
