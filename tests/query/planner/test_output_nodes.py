"""What may be computed from released values, and what comes out whatever they are."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidQuery
from deniable.query.planner.request import make_plan
from tests.query.hospital import policy

POLICY = policy()


@pytest.mark.parametrize(
    ("selected", "because"),
    [
        ("COUNT(*) + ward", "kinds number, text"),
        ("UPPER(COUNT(*))", "kinds number"),
        ("CASE WHEN COUNT(*) THEN 1 END", "true or false"),
        ("CASE WHEN COUNT(*) > 1 THEN 1 ELSE 'a' END", "CAST one of them"),
        ("ward AND TRUE", "kinds text, boolean"),
        ("LEFT(ward, COUNT(*))", "must be a constant"),
        ("REVERSE(ward)", "on released values"),
        ("CONCAT(COUNT(*) > 1, 'a')", "cannot be written as text"),
        ("CAST(COUNT(*) AS DATE)", "Only texts and dates|on released values"),
        ("COALESCE(ward, 3)", "kinds text, number"),
        ("age", "AVG.age."),
        ("note", "COUNT.DISTINCT note."),
        (" || ".join(["ward"] * 102), "At most 100 texts"),
        ("CONCAT(" + ", ".join(["ward"] * 101) + ")", "At most 100 texts"),
        (f"CONCAT({'ward, ' * 50} CONCAT({'ward, ' * 50} ward))", "At most 100 texts"),
        ("AVG(cost) * " + "*".join(["1e30"] * 6), "beyond 1e150"),
        ("AVG(cost) + " + "*".join(["1e30"] * 6), "beyond 1e150"),
        ("SQRT(AVG(cost) * " + "*".join(["1e-30"] * 6) + ")", "below 1e-150"),
    ],
)
def test_refusals_say_why(selected, because):
    sql = f"SELECT ward, {selected} AS x, COUNT(*) AS n FROM visits GROUP BY ward"
    with pytest.raises(InvalidQuery, match=because):
        make_plan(sql, POLICY, epsilon=1)


@pytest.mark.parametrize("number", ["1e30*1e30*1e30*1e30*1e20", "1e-90*1e-50"])
@pytest.mark.parametrize(
    "selected",
    ["AVG(x) * {0}", "SUM(x) / ({0})", "VARIANCE(x) * {0}", "EXP(AVG(x) * {0})"],
)
def test_large_constants_that_are_planned_are_answered(number, selected):
    table = pa.table({"x": [1.0, 2.0]})
    session = dp.protect(table, name="t", bounds={"x": (0, 10)}, epsilon=1)
    assert len(session.sql(f"SELECT {selected.format(number)} AS y FROM t", epsilon=1)) == 1


@pytest.mark.parametrize(
    "condition",
    [
        "admitted > 'nonsense'",
        "admitted IN ('2026-01-01', '2026-02-30')",
        "CASE admitted WHEN '31.1.2026' THEN TRUE ELSE FALSE END",
        "admitted < CAST('nonsense' AS DATE)",
    ],
)
def test_texts_that_are_no_dates_are_refused_before_the_charge(condition):
    sql = f"SELECT admitted, COUNT(*) AS n FROM visits GROUP BY admitted HAVING {condition}"
    with pytest.raises(InvalidQuery, match=r"is not a date\. Write it like"):
        make_plan(sql, POLICY, epsilon=1, delta=1e-6)


def test_dates_are_written_in_having_as_in_where():
    days = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]
    table = pa.table({"day": days})
    session = dp.protect(table, name="t", keys={"day": ["2026-01-01", "2026-01-02"]}, epsilon=1)
    sql = "SELECT day, COUNT(*) AS n FROM t GROUP BY day HAVING day > '2026-1-1'"
    assert session.sql(sql, epsilon=1).to_arrow()["day"].to_pylist() == days[1:]


@pytest.mark.parametrize("between", [" || ", ", "])
def test_a_hundred_texts_are_put_together(between):
    joined = between.join(["ward"] * 100)
    sql = f"SELECT ward, CONCAT({joined}) AS x, COUNT(*) AS n FROM visits GROUP BY ward"
    assert make_plan(sql, POLICY, epsilon=1).outputs[1].kind == "text"


def test_having_takes_a_condition():
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) + 1"
    with pytest.raises(InvalidQuery, match="is not a condition"):
        make_plan(sql, POLICY, epsilon=1)


def test_outputs_that_jump_have_no_margin_and_a_note():
    sql = """
    SELECT ward, CASE WHEN COUNT(*) > 9 THEN 1 ELSE 0 END AS large, COUNT(*) > 9 AS b,
           CONCAT(ward, COUNT(*)) AS label, COUNT(*) % 2 AS odd, COUNT(*) AS n
    FROM visits GROUP BY ward
    """
    plan = make_plan(sql, POLICY, epsilon=1)
    assert [output.margin is None for output in plan.outputs] == [True] * 5 + [False]
    assert [output.kind for output in plan.outputs][1:4] == ["number", "boolean", "text"]
    assert "large has no margin: " in " ".join(plan.notes)


@pytest.mark.parametrize("rows", [0, 1, 40])
def test_an_answer_comes_out_whatever_the_rows_are(rows):
    wards = np.array([None, "", "A", "\U0001f600"], dtype=object)[np.arange(rows) % 4]
    table = pa.table(
        {
            "ward": pa.array(wards.tolist(), pa.string()),
            "well": pa.array([(True, None)[i % 2] for i in range(rows)], pa.bool_()),
            "day": pa.array([i * 3000 for i in range(rows)], pa.int32()).cast(pa.date32()),
            "x": pa.array([0] * rows, pa.int64()),
        }
    )
    session = dp.protect(table, bounds={"x": (0, 9)}, epsilon=10**6, delta=0.5)
    sql = """
    SELECT ward, day, well, CONCAT(ward, '-', COUNT(*), ROUND(AVG(x), 1)) AS label,
           UPPER(ward) || LEFT(ward, 1) AS short, LN(SUM(x)) AS l, EXP(COUNT(*) * 1000) AS e,
           CASE WHEN ward LIKE '%A%' THEN ward WHEN day > '2000-01-01' THEN 'late' END AS c,
           SUM(x) / NULLIF(SUM(x), 0) AS r, day = DATE '1970-01-01' AS first, NULL AS nothing,
           COALESCE(ward, 'none') AS w, MOD(COUNT(*), SUM(x)) AS m, NOT well AS ill
    FROM data GROUP BY ward, day, well
    HAVING (ward <> 'x' OR ward IS NULL) AND COUNT(*) > -1000
    ORDER BY short, LENGTH(ward), day DESC, c, well
    """
    answer = session.sql(sql, epsilon=1000)
    assert len(answer) <= rows
    assert answer.to_json()


def test_null_is_neither_true_nor_false():
    rows = pa.table({"ward": pa.array(["A", "B", None] * 50)})
    session = dp.protect(rows, epsilon=10**6, delta=0.1)
    for condition, kept in [("ward = 'A'", 1), ("NOT (ward = 'A')", 1), ("ward IS NULL", 1)]:
        sql = f"SELECT ward, COUNT(*) AS n FROM data GROUP BY ward HAVING {condition}"
        assert len(session.sql(sql, epsilon=1000)) == kept


@pytest.mark.parametrize(("keys", "texts"), [((1, 2), ["1", "2"]), ((1, 2.5), ["1.0", "2.5"])])
def test_keys_declared_as_whole_numbers_are_text_without_a_point(keys, texts):
    rows = pa.table({"x": [float(key) for key in keys] * 50})
    with dp.protect(rows, keys={"x": list(keys)}, epsilon=10) as data:
        text = "SELECT CAST(x AS TEXT) AS label, COUNT(*) AS n FROM data GROUP BY x ORDER BY x"
        assert data.sql(text, epsilon=1).to_arrow()["label"].to_pylist() == texts
