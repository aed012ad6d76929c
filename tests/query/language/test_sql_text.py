"""What is printed can be pasted: it is read as the same tree again."""

import pytest

from deniable.query.language.parse import parse_expression
from tests.query.relations.test_function_table import USES

MORE = ["-(-x)", "NOT (b AND x > 1)", "x IS NOT NULL", "CASE t WHEN 'a' THEN 1 END", "x <> 3"]
MORE += ["t IN ('a', 'it''s')", "b IS TRUE", "x BETWEEN 1 AND 2", "CAST(d AS DATE)", "-3 - x"]


@pytest.mark.parametrize("text", [*(use for uses in USES.values() for use in uses), *MORE])
def test_a_printed_expression_is_read_as_the_same_one(text):
    read = parse_expression(text)
    assert parse_expression(str(read)) == read
