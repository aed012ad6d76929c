"""How long an expression's SQL is: counted beforehand, and no less than what is written."""

import pytest
from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.expressions import check_sizes, repeats, size
from deniable.query.language.parse import parse
from deniable.query.language.syntax_tree import Call, ColumnRef
from deniable.query.relations.function_table import FUNCTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_function_names_an_argument_more_often_than_counted(name):
    function = FUNCTIONS[name]
    given = [exp.column(f"argument{i}_") for i in range(max(function.least, 1))]
    written = function.sql(given).sql("duckdb")
    assert max(written.count(argument.name) for argument in given) <= repeats(name)


@pytest.mark.parametrize("name", [function for function in FUNCTIONS if repeats(function) > 1])
def test_functions_that_repeat_their_argument_do_not_nest_without_end(name):
    call = ColumnRef("x")
    for _ in range(20):
        call = Call(name, (Call("lower", (call,)),))  # between, as a chain of || is one list
    assert size(call) > 2**20
    with pytest.raises(InvalidQuery, match="repeats parts of itself"):
        check_sizes([call])


@pytest.mark.parametrize("name", ["joined", "concat"])
def test_a_chain_of_texts_repeats_each_of_them_once(name):
    call = ColumnRef("x")
    for _ in range(100):
        call = Call(name, (call, ColumnRef("y")))
    assert size(call) == 100 + 2 * 101
    check_sizes([call])


def test_a_sub_query_counts_with_all_that_is_in_it():
    inside = "SELECT floor FROM wards JOIN w ON wards.a = w.a WHERE floor + 1 > 2"
    statement = parse(f"SELECT COUNT(*) FROM visits WHERE cost IN ({inside})")
    # cost, the sub-query, its output, two tables, the join with its condition, its WHERE
    assert size(statement.where) == 1 + 1 + 1 + 1 + (1 + 2 + 3) + (1 + 3 + 1)


def test_long_expressions_are_shown_in_short():
    long = Call("and", tuple(ColumnRef("x" * 30) for _ in range(5000)))
    assert len(str(long)) == 1000
    assert str(long).endswith("...")
