"""Which letters DuckDB takes for one another, and which for space: asked of DuckDB itself.

DuckDB maps letters one by one, so that text never becomes longer; other engines map "ß" to
two letters, or know another edition of Unicode. They are given DuckDB's own letters instead.
"""

from functools import cache
from typing import Literal

import duckdb

_END = 0x20000  # no letter from here on has a case, and none is a space
_SURROGATES = (0xD800, 0xE000)  # which are no letters
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
    """What TRIM takes away.

    >>> " " in spaces(), "\\t" in spaces()
    (True, False)
    """
    return _query_duckdb(
        f"SELECT string_agg(c, '' ORDER BY c), '' FROM ({_LETTERS}) AS letters "
        "WHERE trim(c) = ''"
    )[0]


def _query_duckdb(sql: str) -> tuple[str, str]:
    with duckdb.connect() as connection:
        found = connection.execute(sql).fetchone()
    assert found is not None
    return str(found[0]), str(found[1])
