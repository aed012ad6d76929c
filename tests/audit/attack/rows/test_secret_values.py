"""Contributions by the value of a secret."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack.rows import secret_values
from deniable.audit.attack.rows.owned_sources import read_owned
from deniable.audit.attack.rows.secret_values import contribute_by_value

ROWS = pa.table({"id": range(6), "drug": ["x", "y", None, "x", "z", "y"]})
ASKED = [
    "SELECT drug, COUNT(*) AS n FROM data GROUP BY drug",
    "SELECT COUNT(*) AS n FROM data WHERE drug = 'x' AND id < 3",
]


def test_exact_answers_follow_from_the_true_values():
    known = contribute_by_value(read_owned(ROWS, keys={"drug": ["x", "y", "z"]}), ASKED, "drug")
    assert set(known.values) == {None, "x", "y", "z"}
    exact = dict(zip(map(str, known.numbers), known.exact_answers().tolist(), strict=True))
    assert exact == {
        "question 1, n of x": 2,
        "question 1, n of y": 2,
        "question 1, n of z": 1,
        "question 2, n": 1,
    }
    assert known.parts.shape == (4, 4, 6)


@pytest.mark.parametrize("secret", ["id2", "one", "many"])
def test_a_secret_has_few_values(secret):
    rows = pa.table({"one": [1] * 20, "many": range(20)})
    with pytest.raises(dp.InvalidParameter):
        contribute_by_value(read_owned(rows), ASKED, secret)


def test_what_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr(secret_values, "MOST_NUMBERS", 10)
    with pytest.raises(dp.InvalidParameter, match="random part"):
        contribute_by_value(read_owned(ROWS), ASKED[1:], "drug")


def test_nothing_is_added_by_a_value_that_is_not_counted():
    known = contribute_by_value(read_owned(ROWS), ASKED[1:], "drug")
    by_value = dict(zip(known.values, known.parts[:, 0], strict=True))
    assert by_value["x"].tolist() == [1, 1, 1, 0, 0, 0]
    assert not np.any([by_value[value] for value in ("y", "z", None)])


def test_a_number_that_needs_one_value_of_the_secret_is_not_called_skipped():
    never = "SELECT COUNT(*) AS n FROM data WHERE id > 9"
    known = contribute_by_value(read_owned(ROWS), [ASKED[1], never], "drug")
    assert [str(number) for number in known.numbers] == ["question 1, n"]
    assert [text for text, _ in known.skipped] == [never]


def test_an_average_beside_a_count_that_is_not_its_own_stays_an_average():
    rows = pa.table({"id": range(6), "drug": [0, 1, None, 1, 0, 1]})
    owned = read_owned(rows, bounds={"drug": (0, 1)})
    known = contribute_by_value(
        owned, ["SELECT AVG(drug) AS a, COUNT(*) AS n FROM data"], "drug"
    )
    assert [str(entry) for entry in known.numbers] == ["question 1, n"]
    assert [entry.number.output for entry in known.averages] == ["a"]
    assert known.averages[0].exact * known.averages[0].scale == pytest.approx(3 / 5)
