"""Rehearsals: planned as for real, on rows about nobody, at no cost, and marked as such."""

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.errors import BudgetExhausted, InvalidPolicy
from deniable.policy import Policy, Table

POLICY = """
[budget]
epsilon = 2
delta = 1e-6
[analysts.anna]
epsilon = 1
delta = 1e-6
[tables.visits]
source = "visits.parquet"
unit = "patient"
max_groups_per_unit = 2
max_rows_per_unit_per_group = 3
expected_rows = 3000
[tables.visits.columns]
ward = { keys = ["A", "B"] }
cost = { bounds = [0, 100], step = 0.01 }
diagnosis = { keys = "private" }
"""
QUESTIONS = [
    "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward",
    "SELECT diagnosis, COUNT(DISTINCT patient) AS n FROM visits GROUP BY diagnosis",
    "SELECT STDDEV(cost) AS s FROM visits WHERE well AND day >= '2025-02-01'",
]


@pytest.fixture
def path(tmp_path):
    table = pa.table(
        {
            "patient": pa.array(range(300), pa.int32()),
            "ward": ["A"] * 300,
            "cost": pa.array([1.0] * 300, pa.float32()),
            "diagnosis": ["secret"] * 300,
            "well": [True] * 300,
            "day": pa.array([1] * 300, pa.date32()),
        }
    )
    pa.parquet.write_table(table, tmp_path / "visits.parquet")
    (tmp_path / "deniable.toml").write_text(POLICY)
    return tmp_path / "deniable.toml"


@pytest.mark.parametrize("sql", QUESTIONS)
def test_questions_are_planned_as_they_would_be(path, sql):
    with dp.open(str(path), analyst="anna") as real, dp.rehearse(path, analyst="anna") as made:
        assert made.plan(sql, epsilon=0.5) == real.plan(sql, epsilon=0.5)


def test_nothing_is_spent_and_nothing_is_certified(path):
    with dp.rehearse(str(path), analyst="anna") as rehearsal:
        release = rehearsal.sql(QUESTIONS[0], epsilon=0.5)
        assert release.rehearsal
        assert release.certificate is None
        assert "REHEARSAL" in str(release)
        assert "REHEARSAL" in release._repr_html_()
        assert release.to_dict()["rehearsal"] is True
        with pytest.raises(dp.InvalidCertificate):
            dp.verify(release.to_json())
        assert repr(rehearsal).startswith("<rehearsal about visits")
    assert sorted(one.name for one in path.parent.iterdir()) == [
        "deniable.toml",
        "visits.parquet",
    ]


def test_a_budget_runs_out_as_it_would(path):
    with dp.rehearse(path, analyst="anna") as rehearsal:
        rehearsal.sql(QUESTIONS[0], epsilon=0.75)
        assert rehearsal.remaining.epsilon == 0.25
        with pytest.raises(BudgetExhausted):
            rehearsal.sql(QUESTIONS[0], epsilon=0.5)
    with dp.rehearse(path, analyst="anna") as again:
        assert again.remaining.epsilon == 1


def test_real_values_have_no_part_in_it(path):
    with dp.rehearse(path, analyst="anna") as rehearsal:
        wards = rehearsal.sql(QUESTIONS[0], epsilon=1, fresh=True).to_arrow().to_pylist()
    assert all(1000 < row["n"] < 2000 for row in wards)  # 3,000 made-up rows, not 300
    assert all(row["cost"] > 20 for row in wards)  # not 1.0


def test_a_rehearsal_from_a_policy_without_data():
    table = Table.declare("visits", "elsewhere.parquet", bounds={"cost": (0, 10)})
    with dp.rehearse(Policy([table], epsilon=1)) as rehearsal:
        assert 0 <= rehearsal.sql("SELECT AVG(cost) AS c FROM visits", epsilon=1).value <= 10


def test_the_policy_must_be_there(tmp_path):
    with pytest.raises(InvalidPolicy, match="no policy file"):
        dp.rehearse(tmp_path / "absent.toml")


def test_the_analyst_is_who_is_charged(path):
    with dp.open(str(path), analyst="anna") as session:
        session.sql(QUESTIONS[0], epsilon=0.5)
        assert session.remaining.epsilon == 0.5
        assert session.ledger.entries[0].analyst == "anna"
    with dp.open(str(path)) as nobody, pytest.raises(dp.InvalidParameter, match="who asks"):
        nobody.sql(QUESTIONS[0], epsilon=0.5)
