"""Questions by row: what is followed, and why something is not."""

import pyarrow as pa
import pytest

from deniable.audit.attack.rows.followed_rows import ROW, follow_rows
from deniable.audit.attack.rows.owned_sources import OwnedRows, read_owned
from deniable.audit.attack.rows.row_contributions import contribute
from deniable.policy import Table

VISITS = {"who": [1, 1, 2], "ward": ["A", "B", "C"], "cost": [1, 2, 3]}
# Ward A is in two cities, and C in none.
CITIES = {"ward": ["A", "A", "B"], "city": ["Ulm", "Bonn", "Ulm"]}
OWNED = OwnedRows(
    pa.table(VISITS),
    read_owned(pa.table(VISITS), table="visits", bounds={"cost": (0, 9)}).table,
    beside=(Table("cities", pa.table(CITIES), public=True),),
    private=("staff",),
)
JOINED = "visits JOIN cities ON visits.ward = cities.ward"


def parts(text):
    known = contribute(OWNED, [text])
    assert known.skipped == ()
    totals = known.values().tolist()
    return {number.keys: total for number, total in zip(known.numbers, totals, strict=True)}


def why(text):
    ((named, reason),) = contribute(OWNED, [text]).skipped
    assert named == text
    return reason


def test_a_row_counts_as_often_as_a_public_table_repeats_it():
    assert parts(f"SELECT COUNT(*) AS n FROM {JOINED}") == {(): [2, 1, 0]}
    assert parts(f"SELECT SUM(cost) AS s FROM {JOINED}") == {(): [2, 2, 0]}
    by_city = parts(f"SELECT city, COUNT(*) AS n FROM {JOINED} GROUP BY city")
    assert by_city == {("Ulm",): [1, 1, 0], ("Bonn",): [1, 0, 0]}
    assert parts("SELECT COUNT(*) AS n FROM visits CROSS JOIN cities") == {(): [3, 3, 3]}
    left = "SELECT COUNT(*) AS n FROM visits LEFT JOIN cities USING (ward)"
    assert parts(left) == {(): [2, 1, 1]}


@pytest.mark.parametrize("columns", ["ward", "*"])
def test_a_union_counts_a_row_in_each_part(columns):
    both = f"SELECT {columns} FROM visits UNION ALL SELECT {columns} FROM visits WHERE cost > 1"
    assert parts(f"SELECT COUNT(*) AS n FROM ({both})") == {(): [1, 2, 2]}


def test_public_tables_in_conditions_are_followed():
    inside = "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT ward FROM cities)"
    assert parts(inside) == {(): [1, 1, 0]}


def test_what_chooses_among_released_groups_is_left_out():
    question = follow_rows(
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 1 ORDER BY n LIMIT 1",
        "visits",
    )
    assert [key.name for key in question.keys] == ["ward", ROW]
    assert (question.having, question.order, question.limit) == (None, (), None)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("staff", "is about the private table 'staff'"),
        ("visits JOIN staff ON visits.who = staff.who", "the private table 'staff', too"),
        ("visits WHERE who IN (SELECT who FROM staff)", "the private table 'staff', too"),
        ("nowhere", "'nowhere', which is not given"),
        ("visits AS a JOIN visits AS b ON a.ward = b.ward", "reads 'visits' twice"),
        ("visits WHERE who IN (SELECT who FROM visits WHERE cost > 1)", "reads 'visits' twice"),
        ("(SELECT who, COUNT(*) AS c FROM visits GROUP BY who)", "groups the rows"),
        ("(SELECT DISTINCT ward FROM visits)", "groups the rows"),
        ("(SELECT SUM(cost) AS s FROM visits)", "groups the rows"),
        (
            "(SELECT *, LAG(cost) OVER (PARTITION BY who ORDER BY cost) AS b FROM visits) AS x",
            "or compares them",
        ),
        ("(SELECT ward FROM visits UNION ALL SELECT ward FROM cities)", "private and public"),
        ("cities", "cities is public"),
    ],
)
def test_the_reason_names_what_the_question_reads(source, reason):
    told = why(f"SELECT COUNT(*) AS n FROM {source}")
    assert reason in told
    assert ROW not in told


def test_another_reason_is_not_covered_by_a_join_or_union():
    both = "SELECT who FROM visits UNION ALL SELECT who FROM visits"
    assert "who has no limit" in why(f"SELECT SUM(who) AS s FROM ({both})")
