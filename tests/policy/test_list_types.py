"""Columns of lists: how they are declared, drafted, written down and rehearsed."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.duckdb.frames import to_arrow
from deniable.engines.rehearsal import open_rehearsal
from deniable.errors import InvalidPolicy
from deniable.policy import Column, Policy, Table, load
from deniable.policy.draft import draft_tables
from deniable.policy.written_policy import read_policy, write_policy

CODES = {"keys": {"codes": ["a", "b"]}, "length": {"codes": 3}}


@pytest.mark.parametrize("length", [0, 1001, True, 2.5, "3"])
def test_a_length_is_a_small_whole_number(length):
    with pytest.raises(InvalidPolicy, match="from 1 to 1,000"):
        Column("codes", length=length)


@pytest.mark.parametrize("type_", ["VARCHAR", "LIST", "VARCHAR[3]", "STRUCT"])
def test_a_source_without_lists_is_refused(type_):
    with pytest.raises(InvalidPolicy, match="should hold lists"):
        Table.declare("data", **CODES).with_schema({"codes": type_})


@pytest.mark.parametrize("type_", ["DATE[]", "TIMESTAMP[]", "BLOB[]"])
def test_elements_of_other_kinds_are_refused(type_):
    with pytest.raises(InvalidPolicy, match="lists of numbers, texts and booleans"):
        Table.declare("data", length={"codes": 3}).with_schema({"codes": type_})


def test_what_is_declared_is_about_the_elements():
    table = Table.declare("data", **CODES).with_schema({"codes": "VARCHAR[]"})
    column = table.columns["codes"]
    assert (column.kind, column.keys, column.length) == (None, None, 3)
    assert (column.elements.kind, column.elements.keys) == ("text", ("a", "b"))
    numbers = Table.declare("data", bounds={"n": (0, 9)}, length={"n": 2})
    elements = numbers.with_schema({"n": "BIGINT[]"}).columns["n"].elements
    assert (elements.integer, elements.bounds) == (True, (0, 9))


def test_a_file_declares_a_length_and_a_written_policy_keeps_it(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(
        '[budget]\nepsilon = 1\n[tables.data]\nsource = "data.parquet"\n'
        '[tables.data.columns]\ncodes = { length = 3, keys = ["a", "b"] }\n'
    )
    policy = load(path)
    assert policy.tables["data"].columns["codes"].length == 3
    known = Policy([policy.tables["data"].with_schema({"codes": "VARCHAR[]"})], epsilon=1)
    again = read_policy(write_policy(known)).tables["data"].columns["codes"]
    assert again == known.tables["data"].columns["codes"]


def test_a_draft_shows_a_length_for_lists():
    drafted = draft_tables({"data": {"codes": "VARCHAR[]", "days": "DATE[]"}}, {"data": "d"})
    assert '# codes = { length = 5, keys = ["A", "B"] } # VARCHAR[]' in drafted
    assert "# days # DATE[]: not supported" in drafted


def test_a_rehearsal_makes_up_lists():
    table = Table.declare("data", **CODES)
    with open_rehearsal(Policy([table], epsilon=1)) as engine:
        assert engine.schema("data") == {"codes": "VARCHAR[]"}


def test_frames_keep_declared_lists_and_cut_long_ones():
    bad = pa.array([b"\xff"]).view(pa.string())
    rows = pa.table(
        {
            "codes": pa.array([["a"] * 1500, None, []], pa.list_(pa.string())),
            "bad": pa.ListArray.from_arrays(pa.array([0, 1, 1, 1], pa.int32()), bad),
            "deep": [[[1]], None, []],
        }
    )
    lists = {name: Column(name, length=2) for name in rows.column_names}
    read = to_arrow(rows, lists)
    assert read.column_names == ["codes", "bad"]
    assert [None if codes is None else len(codes) for codes in read["codes"].to_pylist()] == [
        1000,
        None,
        0,
    ]
    assert read["bad"].to_pylist()[0] == ["\ufffd"]
    assert to_arrow(rows.slice(1), lists)["codes"].to_pylist() == [None, []]


@pytest.mark.parametrize("kind", ["arrow", "polars", "parquet", "duckdb"])
def test_every_source_with_lists_is_counted_alike(tmp_path, kind):
    from tests.engines.sources import source

    rows = pa.table({"codes": [["a", "b"], ["a", None], None, ["b"] * 9]})
    given = source(kind, tmp_path, rows)
    table = Table.declare("visits", given, **CODES)
    with dp.protect(given, name="visits", epsilon=10**6, **CODES) as session:
        answer = session.sql(
            "SELECT code, COUNT(*) AS n FROM visits, UNNEST(codes) AS u(code) GROUP BY code",
            epsilon=1000,
        )
    assert table.name == "visits"
    assert [round(n) for n in answer["n"]] == [2, 2]
