"""The number of the first test that holds: by CASE in order, and by a search of cuts."""

from fractions import Fraction

import duckdb
import pytest
from sqlglot import exp

from deniable.query.language.syntax_tree import Call, ColumnRef, Literal
from deniable.query.relations.sql_nodes import case, literal_sql, number
from deniable.query.statements.numbered_tests import are_cuts, number_of_test

X = ColumnRef("x")
SIGNS = {"<": exp.LT, ">=": exp.GTE, "=": exp.EQ}


def write(test):
    value, end = test.arguments
    constant = end.arguments[0] if isinstance(end, Call) else end
    return SIGNS[test.name](this=exp.column(value.name), expression=literal_sql(constant))


def cuts(ends):
    constants = [Literal(end) for end in ends]
    return [*(Call("<", (X, end)) for end in constants), Call(">=", (X, constants[-1]))]


def numbers(sql, values):
    rows = ", ".join(
        f"({place}, CAST({value} AS DOUBLE))" for place, value in enumerate(values)
    )
    query = f"SELECT {sql.sql('duckdb')} FROM (VALUES {rows}) AS t(place, x) ORDER BY place"
    return [row[0] for row in duckdb.sql(query).fetchall()]


def in_order(tests, *, total):
    parts = [part for i, test in enumerate(tests) for part in (write(test), number(i))]
    return case(*parts, *([number(len(tests))] if total else []))


@pytest.mark.parametrize("total", [True, False])
@pytest.mark.parametrize("count", [1, 2, 4, 5, 6, 7, 12, 35, 36, 200])
def test_a_search_gives_the_same_numbers_as_tests_in_order(count, total):
    ends = [Fraction(i * i, 3) for i in range(1, count + 1)]
    tests = cuts(ends)
    assert are_cuts(tests)
    exact = [float(end) for end in ends]
    values = [
        "NULL",
        "'nan'",
        "'inf'",
        "'-inf'",
        "-0.0",
        -7,
        *exact,
        *(end - 1 for end in exact),
    ]
    places = numbers(number_of_test(tests, write, total=total), values)
    assert places == numbers(in_order(tests, total=total), values)
    assert places[:4] == [count + 1 if total else None, count, count, 0]


def test_equal_doubles_of_different_cuts_leave_a_cell_empty():
    ends = [Fraction(1), 2 + Fraction(1, 10**30), 2 + Fraction(2, 10**30), Fraction(3)]
    places = numbers(number_of_test(cuts(ends), write, total=True), [0, 1, 2, 2.5, 3])
    assert places == [0, 1, 3, 3, 4]


def test_a_search_tries_few_tests():
    sql = number_of_test(cuts([Fraction(i) for i in range(200)]), write, total=True)
    deepest = max(_tests_before(leaf) for leaf in sql.find_all(exp.Literal))
    assert deepest <= 16


def _tests_before(node):
    """How many tests are tried on the way to a node."""
    count = 0
    while node.parent is not None:
        inner, node = node, node.parent
        if isinstance(node, exp.Case):
            ifs = node.args["ifs"]
            places = [place for place, branch in enumerate(ifs) if branch is inner]
            count += places[0] + 1 if places else len(ifs)
    return count


Y = ColumnRef("y")
ONE, TWO = Literal(Fraction(1)), Literal(Fraction(2))
BELOW = [Call("<", (X, ONE)), Call("<", (X, TWO))]


@pytest.mark.parametrize(
    "tests",
    [
        [Call("=", (X, ONE)), Call("=", (X, TWO))],
        BELOW,
        [*BELOW[::-1], Call(">=", (X, ONE))],
        [*BELOW, Call(">=", (Y, TWO))],
        [BELOW[0], Call("<", (Y, TWO)), Call(">=", (X, TWO))],
        [*BELOW, Call(">=", (X, ONE))],
        [Call("<", (X, Y)), Call(">=", (X, Y))],
        [Call("<", (X, Literal("b"))), Call(">=", (X, Literal("b")))],
        [Call(">=", (X, ONE))],
    ],
)
def test_other_tests_are_tried_in_order(tests):
    assert not are_cuts(tests)
    written = number_of_test(
        tests, lambda test: exp.column(test.name, quoted=True), total=False
    )
    assert [branch.args["true"].sql() for branch in written.args["ifs"]] == [
        str(place) for place in range(len(tests))
    ]


def test_dates_are_cuts_in_the_order_of_their_texts():
    days = [Call("cast date", (Literal(day),)) for day in ("2020-01-01", "2020-12-31")]
    tests = [*(Call("<", (X, day)) for day in days), Call(">=", (X, days[-1]))]
    assert are_cuts(tests)
    assert not are_cuts([tests[1], tests[0], Call(">=", (X, days[0]))])
