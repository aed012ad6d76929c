"""Labels say what certificates say: in words, rounded against us."""

import datetime
from dataclasses import replace
from fractions import Fraction
from math import exp

import pyarrow as pa
import pytest

import deniable as dp
from deniable.policy.budget import Budget, Schedule
from deniable.release.certificate.label import make_label


def verified(sql="SELECT COUNT(*) AS n FROM data", epsilon=0.5, delta=None, **declared):
    frame = pa.table({"p": list(range(100)) * 2, "x": [1.0] * 200, "w": ["A"] * 200})
    with dp.protect(
        frame, bounds={"x": (0, 10)}, **({"epsilon": 2, "delta": 1e-5} | declared)
    ) as data:
        return dp.verify(data.sql(sql, epsilon=epsilon, delta=delta).to_json())


def test_a_row_each():
    text = str(make_label(verified()))
    assert "Each row of data is protected." in text
    assert "The release hides whether they are in the data at all." in text
    assert "n: ± 6" in text


def test_units_and_their_limits():
    text = str(
        make_label(verified(unit="p", max_groups_per_unit=3, max_rows_per_unit_per_group=7))
    )
    assert "Each p in data is protected, with all of its rows" in text
    assert "at most 3 groups" not in text  # a question without groups: one
    assert "at most 1 group, with at most 7 rows" in text


def test_replace_hides_values_and_not_numbers():
    text = str(make_label(verified(neighbors="replace")))
    assert "hides what their rows contain, but not how many there are." in text


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2])
def test_odds_and_guesses_are_upper_bounds(epsilon):
    label = make_label(verified(epsilon=epsilon))
    line = next(line for line in label.sections[1][1] if "multiply" in line)
    told = float(line.split("odds about them by at most ")[1].split()[0])
    assert exp(epsilon) <= told < exp(epsilon) + 0.011
    for before, after in label.guesses:
        odds = exp(epsilon) * float(before / (1 - before))
        assert float(after) == pytest.approx(odds / (1 + odds), rel=1e-9)
        assert float(after) >= odds / (1 + odds) * (1 - 1e-15)
    assert label.share == Fraction(str(epsilon)) / 2


def test_delta_and_thresholds():
    sql = "SELECT w, COUNT(*) AS n FROM data GROUP BY w"
    label = make_label(verified(sql, delta=1e-6, keys={"w": "private"}, unit="p"))
    text = str(label)
    assert "fail with a probability of at most 1 in 1,000,000." in text
    assert "Groups are shown only above a noisy number of" in text


def test_gaussian_noise_and_margins_beside():
    sql = "SELECT w, COUNT(*) AS n, AVG(x) AS x FROM data GROUP BY w"
    keys = {"w": [chr(65 + i) for i in range(20)]}
    verification = verified(sql, 0.1, 1e-6, keys=keys, unit="p", max_groups_per_unit=20)
    text = str(make_label(verification))
    assert "Gaussian noise with deviation" in text
    assert "The margins of the other numbers are in the answer." in text


def test_a_budget_that_grows_is_told_whole():
    verification = verified()
    grows = Schedule(start=datetime.date(2026, 1, 1), every=30, epsilon=1, times=2)
    whole = Budget(1, schedule=grows).at(None)
    cap = {"epsilon": str(whole.epsilon), "delta": "0", "by": "2026-03-02"}
    changed = replace(
        verification.certificate,
        statement=dict(verification.certificate.statement) | {"cap": cap},
    )
    label = str(make_label(replace(verification, certificate=changed)))
    assert "epsilon 3, which the budget reaches on 2026-03-02" in label
