"""The rows of a table in SQLite as they are."""

import sqlite3
from contextlib import closing
from datetime import date

import duckdb
import pytest

import deniable as dp
from deniable.engines.ibis.owner_rows import read_rows


def write(path, kinds, rows):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f'CREATE TABLE "my visits" ({kinds})')
        marks = ", ".join("?" * len(rows[0]))
        database.executemany(f'INSERT INTO "my visits" VALUES ({marks})', rows)
    return f"ibis://sqlite/{path}#my visits"


def test_rows_keep_their_values_and_kinds(tmp_path):
    kinds = 'ward TEXT, cost REAL, "a ""b""" INTEGER, day DATE'
    rows = [("it's", 10.5, 2**53 + 1, "2026-01-02"), (None, None, None, None)]
    table = read_rows(write(tmp_path / "v.sqlite", kinds, rows))
    assert table.to_pydict() == {
        "ward": ["it's", None],
        "cost": [10.5, None],
        'a "b"': [2**53 + 1, None],
        "day": [date(2026, 1, 2), None],
    }


def test_every_row_is_read_equal_ones_too(tmp_path):
    rows = [("A",)] * 5000
    assert read_rows(write(tmp_path / "v.sqlite", "ward TEXT", rows)).num_rows == 5000


def test_a_database_in_duckdb_is_refused_with_the_way_out(tmp_path):
    with duckdb.connect(str(tmp_path / "v.duckdb")) as database:
        database.execute("CREATE TABLE visits AS SELECT 1 AS cost")
    with pytest.raises(dp.DeniableError, match="DuckDB file itself"):
        read_rows(f"ibis://duckdb/{tmp_path}/v.duckdb#visits")


def test_a_database_that_is_not_there_is_an_error_of_our_own(tmp_path):
    with pytest.raises(dp.DeniableError):
        read_rows(f"ibis://sqlite/{tmp_path}/none.sqlite#visits")
