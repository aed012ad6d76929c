"""Rehearsals: planned as for real, on rows about nobody, at no cost, and marked as such.

And frames: no value in them decides between an error and an answer.
"""

import random
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.errors import BudgetExhausted, DeniableError, FrameWarning, InvalidPolicy
from deniable.policy import Policy, Table
from tests.engines.odd_values import draw_frames

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
    with (
        dp.open(str(path), analyst="anna") as real,
        dp.rehearse(path, analyst="anna") as rehearsal,
    ):
        assert rehearsal.plan(sql, epsilon=0.5) == real.plan(sql, epsilon=0.5)


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
    assert sorted(file.name for file in path.parent.iterdir()) == [
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


KINDS = ("number", "integer", "text", "boolean", "date")
DECLARED = {
    "unit": "unit",
    "max_groups_per_unit": 2,
    "bounds": {"number": (-5, 5), "integer": (-5, 5), "bounded": (-5, 5)},
    "step": {"bounded": 0.5},
    "keys": {"text": ["a", "1", "2024-02-29"], "known": ["a", "b"], "yes": [True, False]},
    "kind": {**{kind: kind for kind in KINDS}, "bounded": "number", "unit": "text"},
}
FRAME_QUESTIONS = [
    "SELECT SUM(number) AS a, AVG(integer) AS b, SUM(bounded) AS c, COUNT(date) AS d FROM data "
    "WHERE number < 4 OR date > '2020-01-01' OR text LIKE 'a%' OR boolean OR yes",
    "SELECT text, known, COUNT(*) AS n FROM data GROUP BY text, known",
    "SELECT MEDIAN(integer) AS m, HISTOGRAM(bounded, 3) AS h, MODE(known) AS k FROM data",
    "SELECT yes, VAR_SAMP(number) AS v, COUNT(DISTINCT unit) AS u FROM data GROUP BY yes",
    "SELECT integer, COUNT(*) AS n FROM data GROUP BY integer",
    "SELECT SUM(text) AS n FROM data",  # refused: no number
    "SELECT COUNT(*) AS n FROM data WHERE date > 5",  # refused: no number
]


def outcome(frame, question, **declared):
    """The plan of the answer, or the error's type and message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FrameWarning)
        try:
            with dp.protect(frame, epsilon=1, **declared) as data:
                return data.sql(question, epsilon=1).plan
        except DeniableError as problem:
            return type(problem), str(problem)


@pytest.mark.usefixtures("plans_checked_once")
def test_neighbouring_frames_get_the_same_status_and_message(size):
    rng = random.Random(14)
    names = [*DECLARED["kind"], "known", "yes"]
    for _ in range(size(small=5, full=2_000, what="pairs of frames, asked about")):
        _, first, second, _ = draw_frames(rng, names)
        place = rng.randrange(len(FRAME_QUESTIONS))
        result, other = (
            outcome(frame, FRAME_QUESTIONS[place], **DECLARED) for frame in (first, second)
        )
        assert result == other
        assert isinstance(result, tuple) == (place > 4), result


@pytest.mark.parametrize(
    ("kind", "step"), [("integer", 1), ("number", None)], ids=["integer", "number"]
)
def test_a_missing_value_does_not_change_the_grid_of_a_declared_kind(kind, step):
    """pandas turns a column of integers with a missing value into doubles."""
    plans = [
        outcome(pd.DataFrame({"age": ages}), "SELECT SUM(age) AS s FROM data",
                bounds={"age": (0, 120)}, kind={"age": kind})
        for ages in ([30, 40], [30, None], [30, "x"], [None, None])
    ]  # fmt: skip
    assert plans[0] == plans[1] == plans[2] == plans[3]
    typed = pa.table({"age": pa.array([30], pa.float64() if step else pa.int64())})
    sql = "SELECT SUM(age) AS s FROM data"
    declared = {"bounds": {"age": (0, 120)}, "kind": {"age": kind}}
    assert outcome(typed, sql, **declared) == plans[0]


def test_a_rehearsal_has_the_types_of_declared_kinds():
    frame = pl.DataFrame({"age": [1.0, 2.0], "day": ["2024-01-01", "x"]})
    table = Table.declare("data", frame, kind={"age": "integer", "day": "date"})
    with dp.rehearse(Policy([table], epsilon=1)) as data:
        columns = data.policy.tables["data"].columns
        assert (columns["age"].integer, columns["day"].kind) == (True, "date")
    with dp.rehearse(
        Policy([Table.declare("data", kind={"age": "integer"})], epsilon=1)
    ) as data:
        assert data.policy.tables["data"].columns["age"].integer


def test_a_stream_is_read_once():
    """After a failure the engine opens its sources again, and a stream is then at its end."""
    batches = pa.table({"x": range(500)}).to_reader()
    with dp.protect(batches, epsilon=2) as data:
        for epsilon in (0.9, 1):
            answer = data.sql("SELECT COUNT(*) AS n FROM data", epsilon=epsilon)
            assert abs(answer.value - 500) < 60
            data._engine._recover()
