"""Which parts of a statement are private questions, and what remains above them."""

import pytest
import sqlglot
from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.outer.divide import divide

GROUPS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def ask(text):
    """Stands for the planner: a question counts rows of a table, and has no windows."""
    tree = sqlglot.parse_one(text, dialect="duckdb")
    counts = any(isinstance(e.unalias(), exp.Count) for e in tree.expressions)
    source = tree.args["from_"].this
    named = isinstance(source, exp.Table) and source.name in ("visits", "bills", "old")
    if not counts or not named or any(e.find(exp.Window) for e in tree.expressions):
        raise InvalidQuery(f"not a question: {text}")


def test_each_answer_is_asked_for_once():
    parts = divide(
        f"WITH g AS ({GROUPS}) SELECT a.n - b.n FROM g AS a JOIN g AS b ON a.ward < b.ward", ask
    )
    assert len(parts.inner) == 1
    assert parts.outer.startswith("WITH g AS (SELECT * FROM released_1) SELECT")


def test_one_name_for_two_sub_queries_is_refused():
    other = "SELECT ward, COUNT(*) AS n FROM bills GROUP BY ward"
    text = (
        f"WITH g AS ({GROUPS}) SELECT a.n, SUM(g.n) OVER () AS s FROM g "
        f"JOIN (WITH g AS ({other}) SELECT * FROM g) AS a ON a.ward = g.ward"
    )
    with pytest.raises(InvalidQuery, match="WITH defines g twice"):
        divide(text, ask)


def test_long_chains_of_names_are_refused_before_they_are_planned():
    chain = ", ".join(f"a{i} AS (SELECT n FROM a{i - 1})" for i in range(1, 51))
    statements = []
    with pytest.raises(InvalidQuery, match="at most 50 sub-queries"):
        divide(f"WITH a0 AS ({GROUPS}), {chain} SELECT SUM(n) FROM a50", statements.append)
    assert not statements


def test_what_is_not_used_is_not_asked():
    text = f"WITH g AS ({GROUPS}), h AS (SELECT COUNT(*) FROM bills) SELECT MAX(n) FROM g"
    assert list(divide(text, ask).inner.values()) == [GROUPS]


def test_private_helpers_stay_inside():
    text = (
        "WITH old AS (SELECT * FROM visits WHERE age > 60), "
        "g AS (SELECT ward, COUNT(*) AS n FROM old GROUP BY ward) "
        "SELECT ward, n / SUM(n) OVER () AS share FROM g"
    )
    parts = divide(text, ask)
    assert "WITH old AS (SELECT * FROM visits WHERE age > 60)" in parts.inner["released_1"]
    assert "visits" not in parts.outer


def test_names_of_answers_are_new():
    parts = divide(f"SELECT MAX(n) AS released_1 FROM ({GROUPS})", ask)
    assert list(parts.inner) == ["released__1"]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT v.cost, g.n FROM visits AS v JOIN ({GROUPS}) AS g USING (ward)",
        f"WITH g AS ({GROUPS}) SELECT cost FROM visits WHERE cost > (SELECT MAX(n) FROM g)",
        "SELECT cost, ROW_NUMBER() OVER () FROM visits",
        "SELECT * FROM visits",
        f"SELECT MAX(n) FROM ({GROUPS}) UNION ALL SELECT cost FROM visits",
    ],
)
def test_private_rows_never_reach_the_outer_sql(text):
    with pytest.raises(InvalidQuery):
        divide(text, ask)


def test_a_statement_that_was_refused_is_not_asked_as_a_whole_again():
    statements = []
    text = f"SELECT n, RANK() OVER (ORDER BY n) AS place FROM ({GROUPS}) AS g"
    divide(text, statements.append, InvalidQuery("the first one"))
    assert statements == [GROUPS]


def test_the_first_refusal_is_kept_where_nothing_can_be_divided():
    first = InvalidQuery("the first one")
    with pytest.raises(InvalidQuery, match="the first one"):
        divide("SELECT cost FROM visits", ask, first)
    inner = "SELECT cost FROM visits"
    with pytest.raises(InvalidQuery, match="not a question"):
        divide(f"SELECT RANK() OVER (ORDER BY cost) FROM ({inner})", ask, first)
    with pytest.raises(InvalidQuery, match="RECURSIVE"):
        divide(f"WITH RECURSIVE g AS ({GROUPS}) SELECT n, RANK() OVER () FROM g", ask)
