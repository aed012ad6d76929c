"""DuckDB's SQL as sqlglot parses it, and spellings of other systems that it would not read."""

from functools import lru_cache
from typing import ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.parsers.duckdb import DuckDBParser


def _as_duckdb(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    read: exp.Expr = DuckDBParser.FUNCTIONS[name](arguments)
    return read


def _days_between(arguments: list[exp.Expr]) -> exp.Expr:
    """DATEDIFF(a, b), as MySQL, Hive and Spark write it, is the days from b to a."""
    if len(arguments) != 2:
        return _as_duckdb("DATEDIFF", arguments)
    return exp.DateDiff(this=arguments[0], expression=arguments[1], unit=exp.var("DAY"))


def _date_add(arguments: list[exp.Expr]) -> exp.Expr:
    """DATE_ADD('day', 30, d), as Presto writes it, is DATEADD(day, 30, d)."""
    if len(arguments) != 3:
        return _as_duckdb("DATE_ADD", arguments)
    return exp.Anonymous(this="DATEADD", expressions=arguments)


class _Parser(DuckDBParser):
    FUNCTIONS: ClassVar = {
        **DuckDBParser.FUNCTIONS,
        "DATEDIFF": _days_between,
        "DATE_ADD": _date_add,
    }


@lru_cache(maxsize=8)  # a text is measured, searched for our own clauses, and parsed
def read_tokens(text: str) -> tuple[sqlglot.Token, ...]:
    """The tokens of a text.

    >>> [token.text for token in read_tokens("SELECT x")]
    ['SELECT', 'x']
    """
    return tuple(sqlglot.tokenize(text, dialect="duckdb"))


def parse_statements(text: str) -> list[exp.Expr]:
    """The trees of all statements in a text.

    >>> parse_statements("SELECT DATEDIFF(a, b) FROM t")[0].sql("duckdb")
    "SELECT DATE_DIFF('DAY', b, a) FROM t"
    """
    parsed = _Parser(dialect=DuckDB()).parse(list(read_tokens(text)), text)
    return [statement for statement in parsed if statement is not None]
