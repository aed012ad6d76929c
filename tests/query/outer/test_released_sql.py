import pytest

from deniable.errors import InvalidQuery
from deniable.query.outer.released_sql import read_released_sql


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM visits",
        "SELECT * FROM answer JOIN visits ON TRUE",
        "SELECT * FROM read_csv('visits.csv')",
        "SELECT * FROM 'visits.csv'",
        "SELECT getenv('HOME') FROM answer",
        "COPY answer TO 'file'",
        "DROP TABLE answer",
        "SELECT 1; SELECT 2",
        "",
    ],
)
def test_only_released_tables_are_read(text):
    with pytest.raises(InvalidQuery):
        read_released_sql(text, {"answer"})


def test_functions_cannot_fail():
    read = read_released_sql("SELECT LN(n) AS l FROM answer", {"answer"})
    assert read.outer == "SELECT CASE WHEN n > 0 THEN LN(n) END AS l FROM answer"
