"""Declared keys in the text of a statement, for engines that cannot hold them as a table.

A statement lists at most a hundred keys. More are a relation beside it (`key_relation`).
"""

import secrets
from collections.abc import Sequence
from fractions import Fraction

import sqlglot
from sqlglot import exp

from deniable.query.plan.key_list import is_beside, key_list_of, key_relation
from deniable.query.plan.plan import GroupKey


def write_keys_into(sql: str, keys: Sequence[GroupKey]) -> str:
    """A statement with all its keys in its text.

    >>> key = GroupKey("n", "number", (3, *range(5, 300)), Fraction(1))
    >>> write_keys_into('SELECT 1 WHERE k IN (SELECT key FROM "(keys 0)")', (key,))[:32]
    'SELECT 1 WHERE k IN (3, 5, 6, 7,'
    """
    beside = {key_relation(i): key for i, key in enumerate(keys) if is_beside(key)}
    if not beside:
        return sql
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    texts: dict[str, str] = {}  # what stands for a list in the tree, and the list
    for node in list(tree.find_all(exp.In)):
        query = node.args.get("query")
        source = None if query is None else query.find(exp.Table)
        key = None if source is None else beside.get(source.name)
        if key is not None:
            mark = f"list_{secrets.token_hex(16)}"  # no other text of the statement
            listed = exp.In(this=node.this.copy(), expressions=[exp.column(mark)])
            texts[mark] = ", ".join(map(_literal, listed_values(key)))
            node.replace(listed)
    written = tree.sql(dialect="duckdb")
    for mark, text in texts.items():
        written = written.replace(mark, text)
    return written


def _literal(value: str | int | bool) -> str:
    return (
        value.__repr__() if isinstance(value, int) else exp.Literal.string(value).sql("duckdb")
    )


def listed_values(key: GroupKey) -> list[str | int | bool]:
    """Declared values as the engine returns them: numbers in whole steps."""
    if key.kind == "number":
        steps = key_list_of(key.values or ()).steps(key.step or Fraction(1))
        assert steps is not None  # `key_of` refuses keys that are too far from zero
        return list(steps.tolist())
    return [value if isinstance(value, bool) else str(value) for value in key.values or ()]
