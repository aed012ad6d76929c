"""Columns that DuckDB compares by a collation, in which different texts may be equal."""

import duckdb

from deniable.query.plan.quoting import quote_name


def has_collation(connection: duckdb.DuckDBPyConnection, relation: str, column: str) -> bool:
    """Whether a text column has a collation: two different collations cannot be compared.

    >>> with duckdb.connect() as connection:
    ...     _ = connection.execute("CREATE TABLE t (a VARCHAR, b VARCHAR COLLATE NOCASE)")
    ...     has_collation(connection, "t", "a"), has_collation(connection, "t", "b")
    (False, True)
    """
    name = quote_name(column)
    for other in ("nocase", "nfc"):
        try:
            connection.execute(f"SELECT {name} = ('' COLLATE {other}) FROM {relation} LIMIT 0")
        except duckdb.BinderException:
            return True
    return False
