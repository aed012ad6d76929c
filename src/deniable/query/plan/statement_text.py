"""A statement as a tree, which is also its text in DuckDB's dialect.

A plan holds its statements in this form. The text is what a certificate states and what DuckDB
runs; other engines write their own text from the tree. So no text of ours is parsed again.
"""

import sqlglot
from sqlglot import exp


class StatementText(str):
    """The text of a tree. The tree must not be changed: copy it first.

    >>> text = StatementText(exp.Select(expressions=[exp.Literal.number(1)]))
    >>> text, tree_of(text) is text.tree
    ('SELECT 1', True)
    """

    tree: exp.Query

    def __new__(cls, tree: exp.Query) -> "StatementText":
        text = super().__new__(cls, tree.sql(dialect="duckdb"))
        text.tree = tree
        return text

    def __reduce__(self) -> tuple[type["StatementText"], tuple[exp.Query]]:
        return StatementText, (self.tree,)


def tree_of(sql: str) -> exp.Query:
    """The tree of a statement. Text from elsewhere, such as a file's, is parsed."""
    if isinstance(sql, StatementText):
        return sql.tree
    return sqlglot.parse_one(sql, dialect="duckdb")  # type: ignore[return-value]
