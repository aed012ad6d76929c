"""Attacks take the owner's rows: frames, files, a policy with its key. Never a session."""

import pickle
import sqlite3
from contextlib import closing
from datetime import date

import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.audit import attack
from deniable.audit.attack.rows.owned_sources import _read_source, made_up, read_owned
from deniable.policy import Policy, Table
from tools.postgresql import address, server

ROWS = {"ward": ["A", "B"], "cost": [10, 20]}


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "visits.csv").write_text("ward,cost\nA,10\nB,x\n")
    file = tmp_path / "deniable.toml"
    file.write_text(
        '[budget]\nepsilon = 3\n[tables.visits]\nsource = "visits.csv"\n'
        "[tables.visits.columns]\ncost = { bounds = [0, 100] }\n"
    )
    return file


@pytest.mark.parametrize("frame", [pa.table, pd.DataFrame, pl.DataFrame])
def test_frames_are_read(frame):
    assert read_owned(frame(ROWS)).rows.to_pydict() == ROWS


def test_files_are_read(tmp_path):
    pa.parquet.write_table(pa.table(ROWS), tmp_path / "visits.parquet")
    (tmp_path / "visits.csv").write_text("ward,cost\nA,10\nB,20\n")
    for name in ("visits.parquet", "visits.csv"):
        assert read_owned(tmp_path / name).rows.to_pydict() == ROWS


def test_a_file_that_cannot_be_read_is_refused_without_its_content(tmp_path):
    (tmp_path / "bad.csv").write_text('a,b\n"SECRET\n1,2,3\n')
    with pytest.raises(dp.InvalidParameter, match="cannot be read") as refused:
        read_owned(tmp_path / "bad.csv")
    assert "SECRET" not in str(refused.value)


def test_a_session_is_refused():
    session = dp.protect(pa.table(ROWS), epsilon=1, bounds={"cost": (0, 100)})
    answer = session.sql("SELECT COUNT(*) AS n FROM data", epsilon=1)
    for source in (session, answer, session.table("data"), 7, None):
        with pytest.raises(dp.InvalidParameter, match="never takes a session"):
            attack.linkage(source)


def test_a_policy_needs_its_private_key(policy):
    with pytest.raises(dp.InvalidParameter, match="private key"):
        read_owned(policy)
    with dp.open(str(policy)) as session:  # begins the ledger, and makes the key
        session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    owned = read_owned(policy)
    assert owned.rows.to_pydict() == {"ward": ["A", "B"], "cost": [10.0, None]}
    key = next(policy.parent.glob("*.key"))
    key.rename(policy.parent / "away")
    with pytest.raises(dp.InvalidParameter, match="private key"):
        read_owned(policy)


def test_units_with_the_same_double_stay_apart(tmp_path):
    file = tmp_path / "deniable.toml"
    declared = 'unit = "id"\ncolumns.id = { kind = "integer" }\n'
    file.write_text(f'[budget]\nepsilon = 1\n[tables.t]\nsource = "t.csv"\n{declared}')
    (tmp_path / "t.csv").write_text(f"id,a\n{2**53},1\n{2**53 + 1},2\n")
    with dp.open(str(file)):
        pass
    assert len({*read_owned(file).rows["id"].to_pylist()}) == 2


def test_the_key_of_another_ledger_is_refused(policy):
    from deniable.ledger.stores.signing_keys import SigningKey

    with dp.open(str(policy)):
        pass
    key = next(policy.parent.glob("*.key"))
    key.unlink()
    SigningKey.read_or_create(key)
    with pytest.raises(dp.InvalidParameter, match="does not belong"):
        read_owned(policy)


def test_a_policy_whose_ledger_is_in_memory_is_refused(policy):
    policy.write_text(policy.read_text() + '[ledger]\nstore = "memory"\n')
    with pytest.raises(dp.InvalidParameter, match="private key"):
        read_owned(policy)


def test_a_policy_declares_its_tables_itself(policy):
    with pytest.raises(dp.InvalidParameter, match="leave out unit"):
        read_owned(policy, unit="ward")


def test_made_up_rows_need_no_key_and_read_no_row(policy):
    (policy.parent / "visits.csv").write_text("ward,cost\nSECRET,77\n")
    owned = made_up(policy)
    assert owned.made_up
    assert "SECRET" not in owned.rows["ward"].to_pylist()
    assert attack.linkage(owned).made_up


def test_one_of_several_tables_must_be_named():
    tables = [Table("a", pa.table(ROWS)), Table("b", pa.table(ROWS))]
    with pytest.raises(dp.InvalidParameter, match="a, b"):
        made_up(Policy(tables, epsilon=1))


def test_rows_do_not_print_or_leave():
    owned = read_owned(pa.table(ROWS))
    assert repr(owned) == "<rows of data>"
    with pytest.raises(TypeError):
        pickle.dumps(owned)


def write_policy(folder, source):
    file = folder / "deniable.toml"
    columns = "columns.cost = { bounds = [0, 100] }\n"
    file.write_text(f'[budget]\nepsilon = 3\n[tables.visits]\nsource = "{source}"\n{columns}')
    return file


STORED = {"ward": ["A", None], "cost": [10.5, 20.0], "day": [date(2026, 1, 2), None]}


def test_a_table_in_sqlite_is_read_with_the_key_and_not_without(tmp_path):
    with closing(sqlite3.connect(tmp_path / "v.sqlite")) as database, database:
        database.execute("CREATE TABLE visits (ward TEXT, cost REAL, day DATE)")
        rows = [("A", 10.5, "2026-01-02"), (None, 20.0, None)]
        database.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
    file = write_policy(tmp_path, f"ibis://sqlite/{tmp_path}/v.sqlite#visits")
    with pytest.raises(dp.InvalidParameter, match="private key"):
        read_owned(file)
    with dp.open(str(file)):
        pass
    assert read_owned(file).rows.to_pydict() == STORED
    assert attack.linkage(file).people == 2


def test_a_table_in_postgresql_is_read(tmp_path):
    with server() as folder:
        with psycopg.connect(address(folder), autocommit=True) as connection:
            connection.execute("CREATE TABLE visits (ward text, cost numeric(9, 2), day date)")
            connection.execute(
                "INSERT INTO visits VALUES ('A', 10.5, '2026-01-02'), (NULL, 20, NULL)"
            )
        file = write_policy(tmp_path, f"{address(folder)}#public.visits")
        with dp.open(str(file)):
            pass
        assert read_owned(file).rows.to_pydict() == STORED


def test_a_table_in_spark_is_refused_in_words():
    with pytest.raises(dp.InvalidParameter, match="Parquet"):
        _read_source(Table("visits", "spark://local#visits"))
