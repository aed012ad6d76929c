"""Malformed lines are left out, and only the owner learns of it."""

import gzip
import logging

import pytest

import deniable as dp
from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from tests.engines.plans import plan, shown

GOOD = b"ward,cost\nA,10\nB,20\n"
BAD = {
    "too few columns": (GOOD + b"secret\n", 4),
    "no text": (b"ward,cost\nA,10\n\xff\xfesecret,7\nB,20\n", 3),
}
BROKEN = {
    "an open quote": b'x,"secret',
    "one that opens the line": b'"x,secret',
    "one alone": b'"',
    "one after two": b'x,""secret"',
    "text behind one": b'x,"secret"s',
}
FEW = plan("SELECT COUNT(*) AS n, COUNT(ward) AS m FROM visits", features=["n", "m"])


@pytest.fixture
def opened(tmp_path, caplog):
    def open_(content, **declared):
        path = tmp_path / "visits.csv"
        path.write_bytes(content)
        with caplog.at_level(logging.DEBUG, "deniable"):
            return DuckDB.open(Policy([Table("visits", str(path), **declared)], epsilon=1))

    return open_


@pytest.mark.parametrize("case", BAD)
def test_the_owners_log_says_how_many_and_where(opened, caplog, case):
    content, line = BAD[case]
    assert shown(opened(content).run(FEW)) == [(2, 2)]
    (said,) = caplog.messages
    assert "table visits: 1 line of its CSV files is malformed" in said
    assert f"line {line} of " in said
    assert "secret" not in said


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("rows", [0, 3, 50_000])
def test_a_row_that_could_hide_others_is_refused(opened, caplog, case, rows):
    """Read leniently, lines after a quote that stays open are a part of its value."""
    content = GOOD + BROKEN[case] + b"\n" + b"C,30\n" * rows
    with pytest.raises(InvalidPolicy, match="one row may hide many") as refused:
        opened(content)
    assert "line 4 of " in caplog.text
    assert "secret" not in str(refused.value) + caplog.text
    assert "line 4" not in str(refused.value)
    assert opened(content, malformed="skip")


def test_quotes_that_close_hide_nothing(opened, caplog):
    fine = b'x,"a, ""b""\nc"\n"y",A\nz,5" pipe\n'
    assert shown(opened(GOOD + fine + b"C,30\n" * 100).run(FEW)) == [(105, 105)]
    assert caplog.messages == []


def test_columns_too_many_are_no_matter(opened, caplog):
    assert shown(opened(GOOD + b"x,1,2,3\n").run(FEW)) == [(3, 3)]
    assert caplog.messages == []


def test_the_log_beside_the_ledger_has_it(tmp_path):
    (tmp_path / "visits.csv").write_bytes(GOOD + b"secret\n")
    policy = '[budget]\nepsilon = 1\n[tables.visits]\nsource = "visits.csv"\n'
    (tmp_path / "deniable.toml").write_text(policy)
    dp.open(str(tmp_path / "deniable.toml"))
    (log,) = tmp_path.glob("*.log")
    assert "1 line of its CSV files is malformed" in log.read_text()


def test_several_lines_and_files_are_counted(tmp_path, caplog):
    for name, content in (("a.csv", GOOD + b"x\ny\n"), ("b.csv", GOOD + b"z\n")):
        (tmp_path / name).write_bytes(content)
    table = Table("visits", str(tmp_path / "*.csv"))
    assert shown(DuckDB.open(Policy([table], epsilon=1)).run(FEW)) == [(4, 4)]
    assert "3 lines of its CSV files are malformed" in caplog.text
    assert "line 4 of " in caplog.text
    assert "a.csv" in caplog.text


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz"])
def test_nothing_is_said_where_all_is_well(tmp_path, caplog, ending):
    path = tmp_path / f"visits{ending}"
    content = GOOD if ending == ".csv" else gzip.compress(GOOD.replace(b",", b"\t"))
    path.write_bytes(content)
    assert shown(DuckDB.open(Policy([Table("visits", str(path))], epsilon=1)).run(FEW))
    assert caplog.messages == []


def test_refused_on_request_without_a_number(opened, caplog):
    content, line = BAD["too few columns"]
    with pytest.raises(InvalidPolicy, match='malformed = "report"') as refused:
        opened(content, malformed="refuse")
    assert f"line {line}" in caplog.text
    assert not any(one in str(refused.value) for one in (str(line), "secret", "1 line"))
    assert refused.value.where == ("tables", "visits", "malformed")
    assert opened(GOOD, malformed="refuse")


def test_not_looked_at_on_request(opened, caplog):
    assert shown(opened(BAD["too few columns"][0], malformed="skip").run(FEW)) == [(2, 2)]
    assert caplog.messages == []


def test_what_an_analyst_sees_is_the_same(tmp_path, caplog):
    seen = []
    for name, content in (("good", GOOD), ("bad", GOOD + b"secret\n")):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(content)
        session = dp.protect(str(path), epsilon=10**6)
        answer = session.sql("SELECT COUNT(*) AS n FROM data", epsilon=10**5)
        seen.append(
            (
                repr(session),
                repr(answer),
                str(session.explain("SELECT COUNT(*) AS n FROM data", epsilon=1)),
            )
        )
    assert seen[0] == seen[1]
    assert len(caplog.messages) == 1
