"""The line of a key, whatever the layout."""

import pytest

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
