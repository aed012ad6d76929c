"""Functions in other engines' words: what can be told without the engine."""

from fractions import Fraction

import duckdb
import pytest

from deniable.engines.dialect.engine_dialect import StatementState
from deniable.engines.dialect.function_writer import _cut
from deniable.engines.dialect.statement_writer import StatementWriter
from deniable.engines.dialect.typed_sql import WrittenRelation
from deniable.engines.postgresql.writer import POSTGRESQL
from deniable.engines.spark.writer import SPARK
from deniable.errors import Unsupported

TABLES = {"visits": WrittenRelation("v", {"note": "text", "cost": "double"})}


def test_a_part_of_a_text_is_duckdbs_wherever_it_begins_and_ends():
    places = range(-7, 8)
    with duckdb.connect() as connection:
        for first in places:
            for size in (None, *places):
                theirs = f"'añ😀d', {first}" + ("" if size is None else f", {size}")
                ours = _cut("'añ😀d'", first, None if size is None else Fraction(size))
                same = f"SELECT SUBSTRING({theirs}) = {ours}"
                assert connection.execute(same).fetchall() == [(True,)], same


@pytest.mark.parametrize("dialect", [SPARK, POSTGRESQL], ids=lambda dialect: dialect.engine)
@pytest.mark.parametrize(
    "value",
    [
        'REVERSE("note")',
        'CAST("cost" AS TEXT)',
        'SUBSTRING("note", LENGTH("note"))',
        'LEFT("note", LENGTH("note"))',
        'ROUND("cost", LENGTH("note"))',
        'LOG(3, "cost")',
        'DATE_DIFF(\'decade\', CAST("note" AS DATE), CAST("note" AS DATE))',
        'ROW_NUMBER() OVER (ORDER BY "cost")',
    ],
)
def test_what_has_no_words_is_refused_and_costs_nothing(dialect, value):
    with pytest.raises(Unsupported, match="Nothing was spent"):
        StatementWriter(dialect, TABLES).write(f'SELECT {value} AS v FROM "visits"')


def test_letters_that_a_database_may_not_have_are_refused():
    sql = 'SELECT COUNT(*) AS n FROM "visits" WHERE "note" = \'{}\''
    other = StatementWriter(POSTGRESQL, TABLES, StatementState(salt=0, utf8=False))
    assert "'a'" in other.write(sql.format("a")).sql
    for letter in ("é", "\U0001f600"):
        assert letter in StatementWriter(POSTGRESQL, TABLES).write(sql.format(letter)).sql
        with pytest.raises(Unsupported, match="not encoded in UTF8"):
            other.write(sql.format(letter))
    with pytest.raises(Unsupported, match="not encoded in UTF8"):
        other.write('SELECT LOWER("note") AS n FROM "visits"')
