"""The numbers of one answer: sums, averages, or neither."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack.rows.owned_sources import read_owned
from deniable.audit.attack.rows.rehearsed_answers import answer_privately
from deniable.audit.attack.rows.row_contributions import contribute

OWNED = read_owned(
    pa.table({"team": ["a", "a", "b"], "pay": [1, 3, 8], "x": [2, None, 4]}),
    table="staff",
    bounds={"pay": (0, 9), "x": (0, 9)},
)


def read(outputs, rest=""):
    return contribute(OWNED, [f"SELECT {outputs} FROM staff {rest}"])


@pytest.mark.parametrize(
    ("output", "rows"),
    [
        ("COUNT(*)", [1, 1, 1]),
        ("COUNT(x)", [1, 0, 1]),
        ("COUNT(*) - COUNT(x)", [0, 1, 0]),
        ("SUM(pay) / 4", [0.25, 0.75, 2]),
        ("2 * SUM(pay) - SUM(x)", [0, 6, 12]),
        ("SUM(pay) FILTER (WHERE team = 'a')", [1, 3, 0]),
    ],
)
def test_linear_numbers_are_sums(output, rows):
    known = read(f"{output} AS s")
    assert known.values().tolist() == [rows]
    assert (known.averages, known.lone, known.skipped) == ((), (), ())


@pytest.mark.parametrize("output", ["AVG(pay)", "SUM(pay) / COUNT(*)", "AVG(pay) + 1"])
def test_ratios_are_averages(output):
    known = read(f"{output} AS a")
    (average,) = known.averages
    exact = average.scale * int(average.above.sum()) / int(average.below.sum())
    assert exact == 4 + output.endswith("+ 1")
    assert known.numbers == known.lone == ()


def test_a_constant_is_taken_off_private_answers():
    known = read("COUNT(*) + 1000 AS n, 7 - SUM(pay) AS s")
    assert [number.plus for number in known.numbers] == [1000, 7]
    texts = ["SELECT COUNT(*) + 1000 AS n, 7 - SUM(pay) AS s FROM staff"]
    answers = answer_privately(OWNED, texts, known.numbers, epsilon=4000)
    assert answers == pytest.approx(known.values().sum(axis=1), abs=2)


def test_each_group_has_a_vector_of_its_own():
    known = read("team, SUM(pay) AS s", "GROUP BY team")
    vectors = {n.keys: v.tolist() for n, v in zip(known.numbers, known.vectors, strict=True)}
    assert vectors == {("a",): [1, 3, 0], ("b",): [0, 0, 8]}
    assert known.scales == (Fraction(1), Fraction(1))


def test_the_rows_of_a_lone_number_are_those_that_it_reads():
    known = read("team, MEDIAN(pay) AS m", "WHERE pay > 2 GROUP BY team")
    rows = {entry.number.keys: entry.rows.tolist() for entry in known.lone}
    assert rows == {("a",): [1], ("b",): [2]}
    for number in ("MEDIAN(x)", "STDDEV(x)"):
        (lone,) = read(f"{number} AS m").lone
        assert sorted(lone.rows.tolist()) == [0, 2]  # NULL is not read


def test_too_many_groups_and_rows_are_refused_before_they_take_memory():
    owned = read_owned(
        pa.table({"id": np.arange(2000)}), bounds={"id": (0, 2000)}, step={"id": 1}
    )
    texts = ["SELECT id, COUNT(*) AS n FROM data GROUP BY id"]
    with pytest.raises(dp.InvalidParameter, match="random part"):
        contribute(owned, texts, room=2000**2 - 1)
    assert len(contribute(owned, texts, room=2000**2).numbers) == 2000
    with pytest.raises(dp.InvalidParameter, match="random part"):
        contribute(owned, [*texts, "SELECT COUNT(*) AS n FROM data"], room=2000**2)
