"""Functions under other names, and advice for those that do not exist."""

import pytest

from deniable.errors import InvalidQuery
from deniable.query.language.parse import parse_expression


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("MEAN(x)", "AVG(x)"),
        ("VAR(x)", "VAR_SAMP(x)"),
        ("STD(x)", "STDDEV(x)"),
        ("STDEV(x)", "STDDEV_SAMP(x)"),
        ("VARP(x)", "VAR_POP(x)"),
        ("ISNULL(x, 0)", "COALESCE(x, 0)"),
        ("ISNULL(x)", "x IS NULL"),
        ("IFNULL(x, 0)", "COALESCE(x, 0)"),
        ("NVL(x, 0)", "COALESCE(x, 0)"),
        ("DATE(d)", "CAST(d AS DATE)"),
        ("DATEPART(hour, d)", "EXTRACT(hour FROM d)"),
        ("DATEDIFF(day, a, b)", "DATE_DIFF('day', a, b)"),
        ("EPOCH(d)", "DATE_DIFF('second', TIMESTAMP '1970-01-01', d)"),
        ("EXTRACT(epoch FROM d)", "EPOCH(d)"),
        ("EPOCH(a) - EPOCH(b)", "DATE_DIFF('second', b, a)"),
        ("APPROX_COUNT_DISTINCT(x)", "COUNT(DISTINCT x)"),
        ("APPROX_QUANTILE(x, 0.5)", "MEDIAN(x)"),
        ("COUNT()", "COUNT(*)"),
    ],
)
def test_other_names_mean_the_same(text, same):
    assert parse_expression(text) == parse_expression(same)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("AVRAGE(x)", "no function AVRAGE. Did you mean `AVG`"),
        ("ROUNDD(x)", "Did you mean `ROUND`"),
        ("STRFTIME(d, '%Y')", "STRFTIME is supported here with one part"),
        ("TO_CHAR(d, 'YYYY')", "TO_CHAR is supported here with one part"),
        ("SQUAREROOT(x)", "no function SQUAREROOT. Write SQRT"),
        ("AGE(a, b)", "no function AGE. Write DATE_DIFF"),
        ("WIDTHBUCKET(x, 0, 1, 4)", "Did you mean `WIDTH_BUCKET`"),
        ("STRING_AGG(x, ',')", "no function STRING_AGG. It would release rows"),
        ("LISTAGG(x)", "no function LISTAGG. It would release rows"),
        ("GROUP_CONCAT(x)", "no function GROUP_CONCAT. It would release rows"),
        ("x #>> '{a,b}'", "Write ->> with one path"),
        ("ISNULL()", "one argument"),
        ("ISNULL(x, y, 0)", "one argument"),
        ("DATEADD(day, 1.5, d)", "whole number"),
        ("DATEADD(day, -1.5, d)", "whole number"),
        ("NOW()", "run to run"),
        ("GETDATE()", "run to run"),
    ],
)
def test_refusals_name_what_was_written(text, because):
    with pytest.raises(InvalidQuery, match=because):
        parse_expression(text)
