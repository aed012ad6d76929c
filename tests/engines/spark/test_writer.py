"""The text of Spark's statements: nested functions do not make it grow out of bounds."""

import itertools

import pytest

from deniable.engines.dialect.statement_writer import StatementWriter
from deniable.engines.dialect.typed_sql import WrittenRelation
from deniable.engines.spark.writer import SPARK

TABLE = {"data": WrittenRelation("`v`", {"x": "double", "t": "text", "d": "date", "n": "wide"})}
NESTED = {
    "ROUND({0})": "x",
    "FLOOR({0} + 1)": "x",
    "TRUNC({0} + 1)": "x",
    "CAST(TRY_CAST({0} + 1 AS INT) AS DOUBLE)": "x",
    "CAST(TRY_CAST({0} + 1 AS BIGINT) AS DOUBLE)": "x",
    "TRY_CAST(CAST(TRY_CAST({0} AS TIMESTAMP) AS DATE) AS TEXT)": "t",
    "CAST({0} AS INT128) * 3 // 7": "n",
}


@pytest.mark.parametrize("function", NESTED)
def test_each_level_of_nesting_adds_the_same_length(function):
    lengths, value = [], NESTED[function]
    for _ in range(12):
        value = function.format(value)
        written = StatementWriter(SPARK, TABLE).write(f'SELECT {value} AS a FROM "data"')
        lengths.append(len(written.sql))
    later = lengths[5:]
    steps = [after - before for before, after in itertools.pairwise(later)]
    assert max(steps) < 2 * min(steps)
