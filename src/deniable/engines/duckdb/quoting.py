"""Text and names as DuckDB's SQL writes them."""

import re


def quote_text(value: str) -> str:
    """A text constant.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


def quote_name(value: str) -> str:
    """A name of a table or column.

    >>> quote_name('the "ward"')
    '"the ""ward\"""'
    """
    return '"' + value.replace('"', '""') + '"'


def escape_pattern(path: str) -> str:
    """A path as a pattern that matches only this path.

    >>> escape_pattern("visits*.parquet")
    'visits[*].parquet'
    """
    return re.sub(r"([*?[])", r"[\1]", path)
