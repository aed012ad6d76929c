"""SQL that is understood, and SQL that is refused with a reason."""

import pytest

from deniable.errors import DeniableError, InvalidQuery
from deniable.query.language.parse import parse, parse_expression
from deniable.query.language.syntax_tree import ColumnRef, TableRef


def test_a_whole_statement():
    statement = parse(
        "SELECT ward AS w, COUNT(*) AS n FROM visits AS v WHERE v.age >= 18 "
        "GROUP BY 1 HAVING n > 5 ORDER BY n DESC, w LIMIT 3"
    )
    assert statement.table == TableRef("visits", "v")
    assert str(statement.where) == "(v.age >= 18)"
    assert [(key.name, str(key.expression)) for key in statement.keys] == [("1", "1")]
    assert str(statement.having) == "(n > 5)"  # names are looked up later
    assert statement.order == ((ColumnRef("n"), True), (ColumnRef("w"), False))
    assert statement.limit == 3


def test_top_is_limit():
    assert parse("SELECT TOP 5 COUNT(*) FROM t") == parse("SELECT COUNT(*) FROM t LIMIT 5")


@pytest.mark.parametrize(
    ("sql", "because"),
    [
        ("", "is empty"),
        ("SELECT", "no FROM"),
        ("SELEC COUNT(*) FROM t", "Only SELECT|not valid SQL"),
        ("SELECT COUNT(*) FROM t; DROP TABLE t", "one question at a time"),
        ("DROP TABLE t", "Only SELECT"),
        ("COPY t TO 'x.csv'", "Only SELECT"),
        ("ATTACH 'x.db'", "Only SELECT"),
        ("PRAGMA version", "Only SELECT"),
        ("SET threads = 1", "Only SELECT"),
        ("INSTALL httpfs", "Only SELECT|not valid SQL"),
        ("SELECT * FROM t", "release rows"),
        ("SELECT COUNT(*) FROM t UNION ALL SELECT COUNT(*) FROM t", "into FROM"),
        ("WITH s AS (SELECT 1) SELECT COUNT(*) FROM s", "no FROM"),
        ("WITH RECURSIVE s AS (SELECT 1 FROM s) SELECT COUNT(*) FROM s", "RECURSIVE"),
        ("SELECT COUNT(*) FROM (SELECT a FROM t LIMIT 3)", "LIMIT inside FROM"),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT ON (a) a FROM t)", "DISTINCT ON"),
        ("SELECT COUNT(*) FROM t ASOF JOIN s ON t.a >= s.a", "ASOF JOIN is not"),
        ("SELECT COUNT(*) FROM (t JOIN u ON a = b) SEMI JOIN s ON a = c", "NOT. EXISTS"),
        ("SELECT COUNT(*) FROM t QUALIFY ROW_NUMBER() OVER () = 1", "QUALIFY is not supported"),
        ("SELECT COUNT(*) FROM t AS v(a, b)", "Rename columns in a sub-query"),
        ("SELECT COUNT(*) FROM t WHERE x > ANY ([1, 2])", "= ANY .* and <> ALL"),
        ("SELECT COUNT(*) FROM t WHERE x = ANY (y)", "takes a list or a sub-query"),
        ("SELECT COUNT(*) FROM t WHERE (x, y) IN (SELECT a, b FROM s)", "EXISTS"),
        ("SELECT COUNT(*) FROM t WHERE (x, y) = (1, 2, 3)", "same number of values"),
        ("SELECT COUNT(*) FROM t WHERE (x, y) = 1", "same number of values"),
        ("SELECT COUNT(*) FROM t WHERE x LIKE y ESCAPE '!'", "constant pattern"),
        ("SELECT COUNT(*) FROM t WHERE x LIKE 'a!' ESCAPE '!'", "its ESCAPE character"),
        ("SELECT COUNT(*) FROM t WHERE x LIKE 'a' ESCAPE '!!'", "one character"),
        ("SELECT COUNT(*) FROM t ASOF JOIN s ON t.a >= s.a", "JOIN is not"),
        ("SELECT COUNT(*) FROM t LEFT JOIN s", "condition|not valid SQL"),
        ("SELECT COUNT(*) FROM t, LATERAL (SELECT 1)", "cannot be read from"),
        ("SELECT COUNT(*) FROM (VALUES (1)) AS v(x)", "name columns|cannot be read"),
        ("SELECT COUNT(*) FROM t TABLESAMPLE 10%", "plain names"),
        ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "cannot be read"),
        ("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1)", "no FROM"),
        ("SELECT STDDEV(DISTINCT x) FROM t", "which is over all rows"),
        ("SELECT REGR_SXX(x, y) FROM t", "not supported|no function"),
        ("SELECT SUM(x) OVER () FROM t", "a window function"),
        ("SELECT ABS(x) FILTER (WHERE y) FROM t", "must follow an aggregate"),
        ("SELECT error('x') FROM t", "no function ERROR"),
        ("SELECT getenv('HOME') FROM t", "no function GETENV"),
        ("SELECT COUNT(*) FROM t GROUP BY ROLLUP (a)", "not supported"),
        ("SELECT COUNT(*) FROM t LIMIT 1 + 1", "whole number"),
        ("SELECT SUM(x * 1e400) FROM t", "too large"),
        ("SELECT HISTOGRAM(x, 0) FROM t", "bins"),
        ("SELECT CAST(x AS BLOB) FROM t", "CAST to"),
        ("SELECT COUNT(*) FROM t WHERE " + "(" * 100 + "1" + ")" * 100, "too deep"),
        ("SELECT COUNT(*) FROM t WHERE " + "NOT " * 100 + "a", "too deep"),
        ("SELECT " + "- " * 100 + "COUNT(*) FROM t", "too deep"),
        ("SELECT COUNT(*) FROM t WHERE a = '" + "x" * 200_000 + "'", "too long"),
        ("SELECT COUNT(*) FROM t WHERE a = 'open", "not valid SQL"),
        ("SELECT COUNT(*) FROM t\x00", "character NUL"),
    ],
)
def test_refusals_say_why(sql, because):
    with pytest.raises(InvalidQuery, match=because):
        parse(sql)


@pytest.mark.parametrize("text", [None, 7, "", "a b c", "SELECT 1", "a +"])
def test_conditions_are_refused_too(text):
    with pytest.raises(DeniableError):
        parse_expression(text)


def test_long_chains_are_flat():
    chain = parse_expression(" AND ".join(["a = 1"] * 400))
    assert len(chain.arguments) == 400


def test_chains_too_deep_to_follow_are_refused_and_never_crash():
    with pytest.raises(InvalidQuery, match="too deep"):
        parse("SELECT " + " + ".join(["COUNT(*)"] * 2000) + " FROM t")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM t WHERE c = {}",
        "SELECT w, COUNT(*) FROM t GROUP BY {}",
        "SELECT COUNT(*) FROM t ORDER BY {}",
        "SELECT COUNT(*) FROM t LIMIT {}",
        "SELECT HISTOGRAM(c, {}) FROM t",
        "SELECT TOP_K(w, {}) FROM t",
        "SELECT QUANTILE_CONT(c, {}) FROM t",
        "SELECT ROUND(COUNT(*), {}) FROM t",
    ],
)
@pytest.mark.parametrize("number", ["1e", "1" * 5000, "1e-99999999"])
def test_what_is_no_number_is_refused_wherever_it_stands(text, number):
    with pytest.raises(InvalidQuery, match=r"is not a number|too many digits|takes a whole"):
        parse(text.format(number))


@pytest.mark.parametrize("number", ["1", "1.5", "1.", ".5", "1e3", "1.5E+3", "2e-3"])
def test_numbers_are_read_as_they_are_usually_written(number):
    assert float(parse_expression(f"c = {number}").arguments[1].value) == float(number)


@pytest.mark.parametrize(
    "text", ['SELECT COUNT(*) AS "{}" FROM t', "SELECT COUNT(*) FROM t WHERE w = '{}'"]
)
def test_text_that_no_engine_can_be_told_is_refused_for_that_reason(text):
    with pytest.raises(InvalidQuery, match="lone surrogate at position"):
        parse(text.format("\ud800"))
    with pytest.raises(InvalidQuery, match="the character NUL at position"):
        parse(text.format("\x00"))
    parse(text.format("\U0001f600"))


def test_fetch_is_limit():
    text = "SELECT w, COUNT(*) FROM t GROUP BY w {}"
    assert parse(text.format("FETCH FIRST 3 ROWS ONLY")) == parse(text.format("LIMIT 3"))
    for wrong in ("3 PERCENT ROWS ONLY", "3 ROWS WITH TIES", "-3 ROWS ONLY"):
        with pytest.raises(InvalidQuery, match=r"FETCH FIRST n ROWS ONLY takes|not valid SQL"):
            parse(text.format(f"FETCH FIRST {wrong}"))
