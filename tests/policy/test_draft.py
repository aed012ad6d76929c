"""Drafts: every type gets its line, and the text is TOML whatever the names are."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from deniable.policy.draft import MARK, draft

TYPES = ("DOUBLE", "BIGINT", "VARCHAR", "BOOLEAN", "DATE", "BLOB", "INTEGER[]")
NAMES = st.text(st.characters(codec="utf-8"), min_size=1)


@given(NAMES, NAMES, st.sampled_from(TYPES), st.sampled_from(["a.parquet", 'b\\".csv']))
def test_any_names_make_toml(table, column, type_, source):
    tree = tomllib.loads(draft({table: {column: type_}}, {table: source}))
    (entry,) = tree["tables"]
    assert entry == table
    assert tree["tables"][table]["source"] == source
    assert tree["tables"][table]["unit"] == tree["budget"]["epsilon"] == MARK
    assert tree["tables"][table]["columns"] == {}


@given(NAMES, st.sampled_from(TYPES[:5]))
def test_a_line_without_its_mark_declares_the_column(column, type_):
    text = draft({"t": {column: type_}}, {"t": "a.parquet"})
    *above, line = text.splitlines()
    tree = tomllib.loads("\n".join([*above, line.removeprefix("# ")]))
    assert list(tree["tables"]["t"]["columns"]) == [column]


def test_a_csv_file_has_no_types():
    text = draft({"t": {"cost": "VARCHAR"}}, {"t": "a.CSV"})
    assert "VARCHAR" not in text
    assert 'cost = { kind = "text" }' in text
