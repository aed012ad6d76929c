"""Released groups are a table: SQL over them is free, and sees nothing but them."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.duckdb import rows_process
from deniable.engines.duckdb.rows_process import RowsRefused
from deniable.errors import InvalidQuery

CANARY = 918273645
WORD = "CanaryKestrel"
INNER = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def protect(**options):
    rows = pa.table(
        {
            "patient": np.arange(3000) % 1000,
            "ward": ["A", "B", "C"] * 1000,
            "year": [2025, 2026] * 1500,
            "cost": [CANARY] * 3000,
            "note": [WORD] * 3000,
        }
    )
    limits = {"max_groups_per_unit": 3, "max_rows_per_unit_per_group": 3}
    declared = {"keys": {"ward": ["A", "B", "C"], "year": [2025, 2026]}}
    bounds = {"cost": (0, 10**9), "patient": (0, 1000)}
    given = {"unit": "patient", "epsilon": 1000, "delta": 1e-3, **options}
    return dp.protect(rows, name="visits", bounds=bounds, **declared, **limits, **given)


def test_the_sql_costs_what_its_private_part_costs():
    data = protect()
    share = f"SELECT ward, n / SUM(n) OVER () AS share FROM ({INNER})"
    answer = data.sql(share, epsilon=1)
    assert data.remaining.epsilon == 999
    assert sum(answer.to_arrow()["share"].to_pylist()) == pytest.approx(1)
    again = data.sql(f"SELECT MAX(n) AS most FROM ({INNER})", epsilon=1)
    assert again.repeated
    assert data.remaining.epsilon == 999
    assert data.sql(INNER, epsilon=1).repeated


def test_several_parts_share_the_price_and_are_charged_at_once():
    data = protect()
    text = (
        "WITH a AS (SELECT ward, COUNT(*) AS n FROM visits WHERE year = 2025 GROUP BY ward), "
        "b AS (SELECT ward, COUNT(*) AS n FROM visits WHERE year = 2026 GROUP BY ward) "
        "SELECT ward, b.n - a.n AS growth FROM a JOIN b USING (ward) ORDER BY ward"
    )
    told = str(data.explain(text, epsilon=1))
    assert told.count("50 % of epsilon") == 2
    assert data.remaining.epsilon == 1000
    answer = data.sql(text, epsilon=1)
    assert data.remaining.epsilon == 999
    assert [part.plan.epsilon for part in answer.inner.values()] == [Fraction(1, 2)] * 2
    assert answer.to_arrow()["ward"].to_pylist() == ["A", "B", "C"]
    assert answer.to_arrow()["growth_margin"].null_count == 0
    assert data.sql(text, epsilon=1).repeated
    assert data.remaining.epsilon == 999


FREE_FAULTS = [
    f"SELECT ward + 1 AS x, RANK() OVER () FROM ({INNER})",
    f"SELECT nothing, RANK() OVER () FROM ({INNER})",
    f"SELECT REPEAT(ward, 9), RANK() OVER () FROM ({INNER})",
    f"SELECT n, RANK() OVER () FROM ({INNER}), read_csv('x')",
    f"SELECT n, RANK() OVER () FROM ({INNER}), visits",
    f"SELECT LIST(n) AS l, MAX(n) OVER () FROM ({INNER})",
    "SELECT ward, RANK() OVER (ORDER BY cost) FROM visits",
]


@pytest.mark.parametrize("text", FREE_FAULTS)
def test_faults_cost_nothing(text):
    data = protect()
    with pytest.raises(dp.InvalidQuery):
        data.sql(text, epsilon=1)
    with pytest.raises(dp.InvalidQuery):
        data.explain(text, epsilon=1)
    assert data.remaining.epsilon == 1000


def test_a_unit_among_the_groups_is_not_released():
    data = protect()
    with pytest.raises(dp.InvalidQuery):
        data.sql(
            "SELECT patient, RANK() OVER (ORDER BY n) FROM "
            "(SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
            epsilon=1,
        )
    assert data.remaining.epsilon == 1000


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (RowsRefused("it broke\nsecond line"), "it broke"),
        (pa.ArrowInvalid("no table"), "ArrowInvalid"),
        (OSError("no process can be started"), "OSError"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_the_rows_are_handed_over_if_the_sql_fails_after_the_charge(monkeypatch, fault, said):
    data = protect()
    query, calls = rows_process.RowsProcess.query_each, []

    def breaks(self, tables, statements, **options):
        calls.append(statements)
        if len(calls) > 1:
            raise fault
        return query(self, tables, statements, **options)

    monkeypatch.setattr(rows_process.RowsProcess, "query_each", breaks)
    answer = data.sql(f"SELECT MAX(n) AS most FROM ({INNER})", epsilon=1)
    assert answer.columns == ("ward", "n")
    assert f"{said}. These are the rows" in str(answer)
    assert data.remaining.epsilon == 999
    assert dp.verify(answer.to_json()).checks


OUTER = [
    f"SELECT ward, n * 2 AS m FROM ({INNER})",
    "SELECT ward, SUM(COUNT(*)) OVER () AS m, AVG(cost) AS a FROM visits GROUP BY ward",
    "SELECT MAX(s) AS m FROM (SELECT year, SUM(cost) AS s FROM visits GROUP BY year)",
    "SELECT note, n FROM (SELECT note, COUNT(*) AS n FROM visits WHERE cost < 5 GROUP BY note)",
]


@pytest.mark.parametrize("text", OUTER)
def test_no_row_and_no_exact_number_reaches_the_process(text, monkeypatch):
    """The canary is in every row; every exact count and sum is a round number of rows."""
    sent = []
    query = rows_process.RowsProcess.query_each

    def listen(self, tables, statements, **options):
        sent.append((dict(tables), " ".join(statements)))
        return query(self, tables, statements, **options)

    monkeypatch.setattr(rows_process.RowsProcess, "query_each", listen)
    data = protect(epsilon=10**6)
    exact = {1000, 1500, 3000, CANARY, 1000 * CANARY, 1500 * CANARY, 3000 * CANARY}
    answers = [data.sql(text, epsilon=0.01, fresh=True) for _ in range(6)]
    assert len(sent) >= 12
    released = {
        float(value)
        for answer in answers
        for part in answer.inner.values()
        for name in part.columns
        for value in part.to_arrow()[name].to_pylist()
        if isinstance(value, int | float)
    }
    assert len(released & exact) <= 2  # noise of hundreds may give a round number by chance
    for tables, sql in sent:
        assert WORD not in sql
        assert str(CANARY) not in sql
        for table in tables.values():
            values = {value for column in table.columns for value in column.to_pylist()}
            assert WORD not in values
            assert CANARY not in values
            assert {n for n in sent_numbers(table) if abs(n) > 100} <= released


def sent_numbers(table):
    """The numbers of a table that the process got. Of a table of draws, those of draw 0, which
    the other draws move by simulated noise. Made-up rows, which try the SQL before the charge,
    have small numbers."""
    names = table.column_names
    if "_draw" in names:
        table = table.filter(pa.compute.equal(table["_draw"], 0))
        names = [name for name in names if f"{name}__margin" in names]
    values = [value for name in names for value in table[name].to_pylist()]
    return {float(value) for value in values if isinstance(value, int | float)}


def test_a_rehearsal_has_no_certificate(tmp_path):
    policy = tmp_path / "deniable.toml"
    policy.write_text(
        '[budget]\nepsilon = 5\n[tables.t]\nsource = "t.csv"\n'
        '[tables.t.columns]\nward = { kind = "text", keys = ["A", "B"] }\n'
    )
    (tmp_path / "t.csv").write_text("ward\nA\nB\n")
    with dp.rehearse(policy) as data:
        answer = data.sql(
            "SELECT MAX(n) AS m FROM (SELECT ward, COUNT(*) AS n FROM t GROUP BY ward)",
            epsilon=1,
        )
    assert answer.outer_certificate is None
    assert str(answer).count("REHEARSAL") == 1


def test_accuracy_may_be_asked_for():
    data = protect()
    answer = data.sql(f"SELECT ward, n FROM ({INNER}) ORDER BY ward", margin=50)
    assert max(answer.to_arrow()["n_margin"].to_pylist()) <= 50


def test_what_is_one_question_stays_one():
    data = protect()
    each = "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient"
    answer = data.sql(f"SELECT AVG(n) AS mean FROM ({each})", epsilon=1)
    assert not hasattr(answer, "inner")


@pytest.mark.parametrize(
    "selected",
    [
        "ward, n AS ward",  # two outputs of one name
        "n * n AS v, n + 1 AS v",
        "n AS _draw, n * n AS _row",  # names that the margins use
        "ROUND(n, -(1)) AS tens",
    ],
)
def test_an_answer_without_margins_is_still_handed_over(selected):
    data = protect()
    answer = data.sql(f"SELECT {selected}, SUM(n) OVER () AS s FROM ({INNER})", epsilon=1)
    assert len(answer) == 3
    assert data.remaining.epsilon == 999


def test_two_outputs_of_one_name_have_no_margins():
    answer = protect().sql(f"SELECT n * n AS v, n + 1 AS v FROM ({INNER})", epsilon=1)
    assert answer.columns == ("v", "v_")
    assert answer.answer.margins == {}


@pytest.mark.parametrize("day", ["infinity", "-infinity", "290000-01-01"])
@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP"])
def test_dates_that_python_lacks_are_refused_before_the_charge(day, kind):
    data = protect()
    text = f"SELECT CAST('{day}' AS {kind}) AS d, SUM(n) OVER () AS s FROM ({INNER})"
    with pytest.raises(dp.InvalidQuery):
        data.sql(text, epsilon=1)
    assert data.remaining.epsilon == 1000


def test_dates_that_noise_moves_too_far_cost_the_sql_only():
    text = f"SELECT DATE '2020-01-01' + CAST(n AS INT) * 5000 AS d FROM ({INNER})"
    answer = protect().sql(text, epsilon=1)
    assert answer.columns == ("ward", "n")
    assert "years 1 to 9999" in answer.outer_notes[0]


def test_stars_that_are_compared_are_refused_for_what_is_missing():
    rows = pa.table({"id": [1, 2], "age": [3, 4]})
    with dp.protect(rows, name="t", unit="id", epsilon=9) as session:
        text = "SELECT COUNT(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM t WHERE age > 3)"
        with pytest.raises(InvalidQuery, match="sub-queries that name their columns"):
            session.sql(text, epsilon=1)
