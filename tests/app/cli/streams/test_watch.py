"""`deniable watch`: the same command every day."""

from datetime import date, timedelta

import pyarrow as pa
import pyarrow.parquet
import pytest

COUNT = "SELECT day, COUNT(*) AS n FROM arrivals GROUP BY day"
YEAR = ("--since", "2026-01-01", "--until", "2026-12-31")


@pytest.fixture
def ask(run, hospital):
    """`watch` over a second table, of which each row is protected."""
    days = [date(2026, 1, 1) + timedelta(i % 30) for i in range(3000)]
    pyarrow.parquet.write_table(pa.table({"day": days}), hospital / "arrivals.parquet")
    with (hospital / "deniable.toml").open("a") as policy:
        policy.write('\n[tables.arrivals]\nsource = "arrivals.parquet"\n')
    return lambda *words: run("watch", *words)


def test_the_same_command_every_day(ask, hospital):
    words = (COUNT, *YEAR, "--epsilon", "1", "--through")
    status, first, err = ask(*words, "2026-01-02")
    assert (status, err) == (0, "")
    assert "2026-01-02" in first
    assert "protects one event at one time (it may come or go)" in first
    status, later, _ = ask(*words, "2026-01-04", "--save", "days.csv", "--plot", "days.svg")
    assert status == 0
    assert first.splitlines()[1].split()[1] == later.splitlines()[1].split()[1]
    assert (hospital / "days.csv").read_text().count("\n") == 5
    assert "<svg" in (hospital / "days.svg").read_text()
    assert "epsilon 2, delta 9.9e-07 left" in later


def test_explain_spends_nothing(ask):
    status, out, _ = ask(COUNT, *YEAR, "--epsilon", "3", "--every", "7", "--explain")
    assert status == 0
    assert "once, for 53 steps" in out
    assert ask(COUNT, *YEAR, "--epsilon", "3", "--through", "2026-01-03")[0] == 0


def test_persons_windows_and_rho(ask):
    words = ("--rho", "0.1", "--window", "7", "--wait", "1", "--name", "week")
    status, out, _ = ask(COUNT, *YEAR, *words, "--through", "2026-01-03")
    assert status == 0
    assert "last 7 steps" in out
    assert "2026-01-03" not in out


def test_errors(ask):
    assert "--until 2026-12-31" in ask(COUNT, "--epsilon", "1")[2]
    assert "day, week" in ask("--help")[1]
    words = (COUNT, *YEAR, "--epsilon", "1", "--per-person", "2")
    assert "leave `per_person` out" in ask(*words)[2]
    status, _, err = ask(COUNT, *YEAR, "--epsilom", "1")
    assert status == 2
    assert "--epsilon" in err
