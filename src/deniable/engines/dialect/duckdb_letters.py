"""DuckDB's pairs of upper and lower case letters, and its spaces, asked from DuckDB itself.

DuckDB maps letters one by one, so a text never becomes longer. Other engines map "ß" to two
letters, or use another version of Unicode. They get DuckDB's own letters instead.
"""

from functools import cache
from typing import Literal

import duckdb

_END = 0x20000  # above this, no letter has a case and none is a space
_SURROGATES = (0xD800, 0xE000)  # halves of letters, which are not characters
_LETTERS = (
    f"SELECT chr(i::INTEGER) AS c FROM range(1, {_SURROGATES[0]}) AS r(i) UNION ALL "
    f"SELECT chr(i::INTEGER) AS c FROM range({_SURROGATES[1]}, {_END}) AS r(i)"
)


@cache
def case_pairs(which: Literal["lower", "upper"]) -> tuple[str, str]:
    """The letters that change, and what each becomes.

    >>> before, after = case_pairs("upper")
    >>> after[before.index("é")]
    'É'
    """
    return _query_duckdb(
        f"SELECT string_agg(c, '' ORDER BY c), string_agg({which}(c), '' ORDER BY c) "
        f"FROM ({_LETTERS}) AS letters WHERE {which}(c) <> c"
    )


@cache
def spaces() -> str:
    """The letters that TRIM removes.

    >>> " " in spaces(), "\\t" in spaces()
    (True, False)
    """
    return _query_duckdb(
        f"SELECT string_agg(c, '' ORDER BY c), '' FROM ({_LETTERS}) AS letters "
        "WHERE trim(c) = ''"
    )[0]


def _query_duckdb(sql: str) -> tuple[str, str]:
    with duckdb.connect() as connection:
        row = connection.execute(sql).fetchone()
    assert row is not None
    return str(row[0]), str(row[1])
