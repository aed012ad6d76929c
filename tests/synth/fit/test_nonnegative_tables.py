"""The projection on tables without negative cells."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deniable.synth.fit.nonnegative_tables import project_table

CELLS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


@given(CELLS, st.floats(0.001, 1e6))
def test_no_table_with_that_total_is_nearer(cells, total):
    table = np.array(cells)
    nearest = project_table(table, total)
    assert (nearest >= 0).all()
    assert np.isclose(nearest.sum(), total, rtol=1e-6, atol=1e-6)
    # All positive cells were lowered alike, and no other needs a smaller step to reach 0.
    steps = (table - nearest)[nearest > 0]
    assert np.allclose(steps, steps[0], atol=1e-6)
    assert (table[nearest == 0] <= steps[0] + 1e-6).all()


def test_nothing_is_left_of_no_rows():
    assert project_table(np.array([[1.0, -2.0]]), -5.0).tolist() == [[0.0, 0.0]]
