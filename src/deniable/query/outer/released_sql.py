"""SQL that names released tables, as somebody types it who has their rows already."""

from collections.abc import Set

from deniable.query.language.parse import parse_tree
from deniable.query.outer.divide import DividedQuestion
from deniable.query.outer.outer_sql import check_outer, write_total


def read_released_sql(text: str, names: Set[str]) -> DividedQuestion:
    """A statement over released tables, checked against lists and written again.

    >>> read_released_sql("SELECT SUM(n) AS n FROM answer", {"answer"}).outer
    'SELECT SUM(n) AS n FROM answer'
    >>> read_released_sql("SELECT * FROM visits", {"answer"})
    Traceback (most recent call last):
    deniable.errors.InvalidQuery: visits cannot be read beside released rows...
    """
    tree = parse_tree(text)
    check_outer(tree, names)
    return DividedQuestion(write_total(tree), {}, tree)
