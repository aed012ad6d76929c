"""DuckDB: every source gives the same integers, the lock holds, and there is one error."""

import logging
import re

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import EngineFailed, InvalidPolicy
from deniable.policy import Policy, Table
from tests.engines.plans import plan, shown
from tests.engines.sources import KINDS, source

VISITS = {"patient": ["p", "p", "q"], "ward": ["A", "B", "A"], "cost": [10, 20, 5]}
BY_WARD = (
    "SELECT ward AS k0, COUNT(DISTINCT patient) AS units, COUNT(*) AS n, "
    "SUM(TRY_CAST(cost AS BIGINT)) AS s FROM visits GROUP BY ward"
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_gives_the_same_integers(kind, tmp_path):
    with DuckDB.open({"visits": source(kind, tmp_path, pa.table(VISITS))}) as engine:
        query_plan = plan(BY_WARD, keys=["ward"], features=["n", "s"], private=True)
        assert shown(engine.run(query_plan)) == [("A", 2, 2, 15), ("B", 1, 1, 20)]
        assert list(engine.schema("visits")) == list(VISITS)
        assert engine.schema("visits")["cost"] == ("VARCHAR" if kind == "csv" else "BIGINT")


def test_every_statement_of_a_plan_is_run_with_one_salt(tmp_path):
    cells = (
        "SELECT ward AS k0, cost // 10 AS cell, COUNT(*) AS n, MIN($salt) AS salt "
        "FROM visits GROUP BY ALL"
    )
    query_plan = plan(BY_WARD, keys=["ward"], features=["n", "s"], private=True, cells=[cells])
    assert [(statement.kind, statement.name) for statement in query_plan.statements] == [
        ("groups", ""),
        ("cells", "q0_0"),
    ]
    with DuckDB.open({"visits": pa.table(VISITS)}) as engine:
        integers = engine.run(query_plan).reveal_to(lambda exact: exact)
    wards, counted = integers.keys[0].to_pylist(), integers.cells["q0_0"]
    assert sorted(wards) == ["A", "B"]
    columns = counted.keys[0].to_pylist(), counted.cell.tolist(), counted.count.tolist()
    assert sorted(zip(*columns, strict=True)) == [("A", 0, 1), ("A", 1, 1), ("B", 2, 1)]
    assert repr(counted) == "Cells(...)"


def test_a_plan_of_cells_alone_needs_no_groups():
    query_plan = plan("", features=[], cells=["SELECT 7 AS cell, COUNT(*) AS n FROM visits"])
    with DuckDB.open({"visits": pa.table(VISITS)}) as engine:
        integers = engine.run(query_plan).reveal_to(lambda exact: exact)
    assert (integers.keys, integers.features, integers.units) == ((), {}, None)
    assert integers.cells["q0_0"].count.tolist() == [3]


def test_a_policy_opens_its_sources(tmp_path):
    table = Table("visits", source("duckdb", tmp_path, pa.table(VISITS)) + "#visits")
    engine = DuckDB.open(Policy([table, Table("wards", pa.table({"a": [1]}))], epsilon=1))
    assert shown(engine.run(plan("SELECT COUNT(*) AS n FROM visits, wards"))) == [(3,)]


def test_many_files_are_one_table(tmp_path):
    for place in range(3):
        pyarrow.parquet.write_table(pa.table(VISITS), tmp_path / f"{place}.parquet")
    engine = DuckDB.open({"visits": str(tmp_path / "*.parquet")})
    assert shown(engine.run(plan("SELECT COUNT(*) AS n FROM visits"))) == [(9,)]


@pytest.mark.parametrize(
    ("name", "told"), [("visits.duckdb#wards", "no such table"), ("bad.parquet", "opened")]
)
def test_a_source_that_cannot_be_opened_is_named(name, told, tmp_path):
    source("duckdb", tmp_path, pa.table(VISITS))
    (tmp_path / "bad.parquet").write_bytes(b"not a parquet file")
    with pytest.raises(InvalidPolicy, match=told):
        DuckDB.open({"visits": str(tmp_path / name)})


def test_an_unknown_table_is_refused_with_the_nearest():
    with pytest.raises(InvalidPolicy, match="mean `visits`"):
        DuckDB.open({"visits": pa.table(VISITS)}).schema("visit")


def test_the_values_of_an_enum_are_no_part_of_the_schema(tmp_path):
    with duckdb.connect(str(tmp_path / "e.duckdb")) as database:
        database.execute("CREATE TABLE e AS SELECT 'secret'::ENUM('secret', 'other') AS ward")
    assert DuckDB.open({"e": str(tmp_path / "e.duckdb")}).schema("e") == {"ward": "ENUM"}


OUTSIDE = [
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM '{secret}'",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_csv('{folder}/../**/secret.csv')",
    "SELECT * FROM read_csv('http://127.0.0.1/secret.csv')",
    "ATTACH '{folder}/new.duckdb'",
    "COPY (SELECT 1) TO '{folder}/new.csv'",
    "COPY visits TO '{readable}'",
    "EXPORT DATABASE '{folder}/new'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET allowed_paths = ['{secret}']",
    "SET lock_configuration = false",
    "SET threads = 1",
    "RESET TimeZone",
    "SELECT * FROM python_variable",
    "INSERT INTO source0.visits SELECT * FROM visits",
    "DROP TABLE source0.visits",
]


@pytest.mark.parametrize("statement", OUTSIDE)
def test_nothing_outside_can_be_reached(statement, tmp_path):
    python_variable = pa.table(VISITS)  # which DuckDB would otherwise find by its name
    assert len(python_variable) == 3
    secret = tmp_path / "secret.csv"
    secret.write_text("n\n41\n")
    readable = source("csv", tmp_path, pa.table(VISITS))
    before = {path.name for path in tmp_path.iterdir()} | {"visits.duckdb"}
    database = source("duckdb", tmp_path, pa.table(VISITS))
    engine = DuckDB.open({"visits": database, "again": readable})
    sql = statement.format(secret=secret, folder=tmp_path, readable=readable)
    with pytest.raises(EngineFailed):
        engine.run(plan(sql, features=["n"]))
    assert {path.name for path in tmp_path.iterdir()} == before
    assert shown(engine.run(plan("SELECT COUNT(*) AS n FROM visits"))) == [(3,)]


FAILING = [
    "SELECT CAST(ward AS BIGINT) AS n FROM visits",
    "SELECT error(ward) AS n FROM visits",
    "SELECT SUM(170141183460469231731687303715884105727::HUGEINT) AS n FROM visits",
    "SELECT nonsense FROM visits",
    "SELECT",
    "SELECT 1 AS n; SELECT 2 AS n",
    "SELECT COUNT(*) AS m FROM visits",
    # An internal error, after which DuckDB refuses everything until it is opened again.
    "SELECT COUNT(TRY_CAST(make_timestamp(cost - 9223372036854775807) AS VARCHAR)) AS n "
    "FROM visits",
]


@pytest.mark.parametrize("sql", FAILING)
def test_there_is_one_error_and_the_next_question_is_served(sql, caplog):
    columns = VISITS | {"ward": ["secret-ssn-123", "B", "A"]}
    engine = DuckDB.open({"visits": pa.table(columns)})
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineFailed) as failed:
        engine.run(plan(sql))
    told = str(failed.value)
    assert failed.value.reference in told
    assert told.replace(failed.value.reference, "") == str(EngineFailed(""))
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
    assert failed.value.reference in caplog.text
    assert "secret" not in caplog.text + told
    assert shown(engine.run(plan("SELECT COUNT(*) AS n FROM visits"))) == [(3,)]


def test_the_salt_is_secret_steady_and_bound_only_where_asked():
    sql = "SELECT $salt AS n, '$salt' AS text FROM visits LIMIT 1"
    database, other = (DuckDB.open({"visits": pa.table(VISITS)}) for _ in range(2))
    first, second = (shown(engine.run(plan(sql)))[0][0] for engine in (database, other))
    assert first != second
    assert shown(database.run(plan(sql)))[0][0] == first
    assert 2**62 <= first < 2**63
    assert str(first) not in repr(database) + repr(vars(database).keys())
    assert shown(database.run(plan("SELECT COUNT(*) AS n FROM visits WHERE ward <> '$salt'")))


def test_what_spills_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    engine = DuckDB.open({"visits": pa.table(VISITS)})
    assert len(list(tmp_path.iterdir())) == 1
    engine.close()
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_withheld():
    withheld = DuckDB.open({"visits": pd.DataFrame(VISITS)}).run(
        plan("SELECT SUM(cost) AS n FROM visits")
    )
    assert re.fullmatch("<withheld>", repr(withheld))


@pytest.fixture
def nocase(tmp_path):
    """A database in which 'a' is 'A'; the same with the odd spelling first; and a plain one."""
    paths = []
    first, second = ("'p', 'a', 1", "'P', 'A', 2")
    for name, rows in (("one", (first, second)), ("two", (second, first))):
        path = tmp_path / f"{name}.duckdb"
        with duckdb.connect(str(path)) as database:
            database.execute(
                "CREATE TABLE visits "
                "(patient VARCHAR COLLATE NOCASE, ward VARCHAR COLLATE NOCASE, cost INTEGER)"
            )
            database.execute(f"INSERT INTO visits VALUES ({rows[0]}), ({rows[1]})")
        paths.append(str(path))
    return paths


def test_text_is_compared_letter_by_letter_whatever_the_database_does(nocase):
    query_plan = plan(BY_WARD, keys=["ward"], features=["n", "s"], private=True)
    for path in nocase:  # else one group, called by whichever row comes first
        with DuckDB.open({"visits": path}) as engine:
            assert sorted(shown(engine.run(query_plan))) == [("A", 1, 1, 2), ("a", 1, 1, 1)]
            assert engine.schema("visits")["ward"] == "VARCHAR"


def test_people_told_apart_by_a_collation_are_refused(nocase):
    def opened(**declared):
        return DuckDB.open(Policy([Table("visits", source=nocase[0], **declared)], epsilon=1))

    with pytest.raises(InvalidPolicy, match=r"is patient\. The database compares") as refusal:
        opened(unit="patient")
    assert refusal.value.where == ("tables", "visits", "unit")
    opened(unit="cost").close()
    opened().close()
