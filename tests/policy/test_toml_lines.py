"""The line of a key, whatever the layout."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.policy.toml_lines import line_of

TEXT = '''# a comment
[budget]
epsilon = 3   # x = 9

[tables.visits]
source = """
unit = 1
[columns]
"""
unit = "patient"
columns.age.bounds = [0,
   120]

[tables.visits.columns.cost]
bounds = [
  0,   # unit = 2
  9,
]
step = 1
[tables."odd name"]
source = 'x.csv'
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("budget",), 2),
        (("budget", "epsilon"), 3),
        (("budget", "delta"), 2),  # absent: the nearest key above it
        (("tables", "visits"), 5),
        (("tables", "visits", "source"), 6),
        (("tables", "visits", "unit"), 10),
        (("tables", "visits", "columns", "age", "bounds"), 11),
        (("tables", "visits", "columns", "cost", "bounds"), 15),
        (("tables", "visits", "columns", "cost", "step"), 19),
        (("tables", "odd name", "source"), 21),
        (("absent",), None),
        ((), None),
    ],
)
def test_the_line_of_a_key(path, line):
    assert line_of(TEXT, path) == line


VALUES = (
    "1 # [ '\"",
    '"a # [ \\" {"',
    "'a # ] \\'",
    '"""\nb = "1"\n\\""" [\n"""""',
    "'''\n[c]\n''''",
    "[ # ]\n  '[',\n  { x = [2], y = ']' },\n]",
    '{ x = [\n"""]\n"""] }',
    "2026-01-01",
)


@given(st.lists(st.sampled_from(VALUES), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_every_layout_is_cut_where_its_statements_begin(values, ending):
    text, lines = "", {}
    for place, value in enumerate(values):
        text += f"# {value.splitlines()[0]}\n\n" if place % 2 else ""
        lines[f"k{place}"] = text.count("\n") + 1
        text += f"k{place} = {value}\n"
    text = text.replace("\n", ending)
    assert list(tomllib.loads(text)) == list(lines)
    assert {name: line_of(text, (name,)) for name in lines} == lines


def test_a_long_list_is_read_once(monkeypatch):
    """A mistake in a policy with 4,000 lines of keys is reported at once."""
    keys = "".join(f'  "key {i}",\n' for i in range(4_000))
    text = f"[a]\nb = [\n{keys}]\nc = 1\n"
    read = []

    def loads(statement):
        read.append(len(statement))
        return real(statement)

    real = tomllib.loads
    monkeypatch.setattr(tomllib, "loads", loads)
    assert line_of(text, ("a", "c")) == 4_004
    assert sum(read) <= len(text)
