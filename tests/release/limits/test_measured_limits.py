from fractions import Fraction

import pytest

from deniable.ledger.ledger import Remaining
from deniable.mechanisms import Laplace
from deniable.release.limits.limits import LimitsReport
from deniable.release.limits.unit_histograms import UnitHistogram, UnitHistograms

NOTHING = Remaining(Fraction(1), Fraction(0))


def limits(groups=(900, 60, 40), rows=(800, 300, 40), current=(1, 1), keys=3, **changed):
    law = Laplace(epsilon=50).noise()
    values = {
        "table": "visits",
        "unit": "patient",
        "by": ("ward",),
        "neighbors": "add-remove",
        "histograms": UnitHistograms(
            UnitHistogram("groups", groups, law),
            UnitHistogram("rows", rows, law),
            keys,
            Fraction(19, 20),
        ),
        "current": current,
        "answer_epsilon": Fraction(1),
        "price": NOTHING,
        "remaining": NOTHING,
        "plans": (),
    }
    return LimitsReport(**{**values, **changed})


def test_the_margin_grows_with_both_limits_and_doubles_if_units_are_replaced():
    measured = limits()
    assert measured.choice(1, 1).margin == 3
    assert measured.choice(2, 3).margin == Laplace(epsilon=1, sensitivity=6).margin(0.95)
    assert limits(neighbors="replace").choice(2, 3).margin == 36
    assert (
        measured.choice(50, 1).margin == measured.choice(3, 1).margin
    )  # there are three groups


def test_the_recommendation_weighs_noise_against_rows_left_out():
    measured = limits()
    assert (measured.recommended.groups, measured.recommended.rows) == (3, 3)
    dear = limits(answer_epsilon=Fraction(1, 100))
    assert (dear.recommended.groups, dear.recommended.rows) == (1, 1)


def test_the_policys_own_limit_is_in_the_tables_and_the_quote_names_the_caps():
    measured = limits(groups=(5,) * 9, keys=9, current=(7, 1))
    assert 7 in [limit for limit, _, _ in measured.by_groups]
    assert [limit for limit, _, _ in measured.by_rows] == [1, 2, 3]
    assert "the caps of 9 groups and 3 rows" in measured.quote
    assert "7 groups with 1 row in each" in measured.quote


def test_a_limit_above_the_cap_leaves_out_nothing_that_was_measured():
    measured = limits(current=(99, 99))
    assert "leaves out nothing of the rows" in measured.quote


def test_everything_is_in_the_dictionary():
    document = limits().to_dict()
    assert document["histograms"] == {"groups": [900, 60, 40], "rows": [800, 300, 40]}
    assert document["recommended"]["max_rows_per_unit_per_group"] == 3
    assert document["current"]["left_out"]["low"] <= document["current"]["left_out"]["high"]
    assert [row["limit"] for row in document["groups"]] == [1, 2, 3]
    assert document["rows"][-1]["rows_left_out"]["value"] == pytest.approx(0)
