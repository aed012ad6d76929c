"""What AIM's models may cost is known before the charge."""

from deniable.synth.copies.aim_limits import AIM_CELLS, allowed_cells, fitting_seconds


def test_the_size_grows_with_the_budget_that_is_used():
    sizes = [allowed_cells(used / 10) for used in range(11)]
    assert sizes == sorted(sizes)
    assert sizes[0] == AIM_CELLS / 4
    assert sizes[-1] == AIM_CELLS


def test_time_grows_with_cells_and_rounds_up_to_the_largest_model():
    assert fitting_seconds([2, 3], 6) < 0.01
    assert fitting_seconds([10] * 6, 12) < fitting_seconds([10] * 6, 48)
    assert fitting_seconds([10] * 6, 30) == fitting_seconds([10] * 60, 30) < 10
