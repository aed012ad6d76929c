"""`deniable explain`: the plan before anything is spent; no row changes it."""

import pyarrow as pa
import pyarrow.parquet

BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"


def test_the_plan_is_a_tree(run):
    status, out, err = run("explain", BY_WARD, "--epsilon", "0.5")
    assert (status, err) == (0, "")
    for told in (
        "epsilon 0.5",
        "AVG(cost)",
        "3 declared",
        "sensitivity",
        "Laplace",
        "2 groups",
    ):
        assert told in out
    assert "SELECT" not in out


def test_the_engines_sql_is_shown_when_asked_for(run):
    _, out, _ = run("explain", BY_WARD, "--epsilon", "0.5", "--engine-sql")
    assert "SELECT" in out
    assert "$salt" in out


def test_no_row_changes_it(run, hospital):
    _, before, _ = run("explain", BY_WARD, "--epsilon", "0.5", "--engine-sql")
    table = pyarrow.parquet.read_table("visits.parquet")
    other = pa.table({name: table[name].slice(0, 1) for name in table.column_names})
    pyarrow.parquet.write_table(other, "visits.parquet")
    _, after, _ = run("explain", BY_WARD, "--epsilon", "0.5", "--engine-sql")
    assert before == after


def test_it_can_explain_what_the_budget_cannot_pay(run):
    status, out, _ = run("explain", BY_WARD, "--epsilon", "400")
    assert status == 0
    assert "epsilon 400" in out


def test_it_needs_no_ledger_and_begins_none(run, hospital):
    ask = ("SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.5")
    before = sorted(hospital.iterdir())
    assert run("explain", *ask)[0] == 0
    assert sorted(hospital.iterdir()) == before
    with (hospital / "deniable.toml").open("a") as policy:
        policy.write('\n[ledger]\nstore = "no/such/folder/ledger.sqlite"\n')
    assert run("sql", *ask)[0] != 0
    for more in ((), ("--engine-sql",)):
        status, out, err = run("explain", *ask, *more)
        assert (status, err) == (0, "")
        assert "epsilon 0.5" in out
