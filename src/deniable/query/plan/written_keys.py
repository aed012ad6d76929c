"""Declared keys in a statement itself, for engines that cannot hold them as a table.

A statement lists at most a hundred keys. More are a relation beside it (`key_relation`).
"""

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from deniable.query.plan.key_list import is_beside, key_list_of, key_relation
from deniable.query.plan.plan import GroupKey
from deniable.query.plan.statement_text import StatementText, tree_of


def write_keys_into(sql: str, keys: Sequence[GroupKey]) -> str:
    """A statement with all its keys in it.

    >>> key = GroupKey("n", "number", (3, *range(5, 300)), Fraction(1))
    >>> write_keys_into('SELECT 1 WHERE k IN (SELECT key FROM "(keys 0)")', (key,))[:32]
    'SELECT 1 WHERE k IN (3, 5, 6, 7,'
    """
    beside = {key_relation(i): key for i, key in enumerate(keys) if is_beside(key)}
    if not beside:
        return sql
    tree = tree_of(sql).copy()
    for node in list(tree.find_all(exp.In)):
        query = node.args.get("query")
        source = None if query is None else query.find(exp.Table)
        key = None if source is None else beside.get(source.name)
        if key is not None:
            listed = list(map(_literal, listed_values(key)))
            node.replace(exp.In(this=node.this, expressions=listed))
    return StatementText(tree)


def _literal(value: str | int | bool) -> exp.Expr:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    return exp.Literal.number(value) if isinstance(value, int) else exp.Literal.string(value)


def listed_values(key: GroupKey) -> list[str | int | bool]:
    """Declared values as the engine returns them: numbers in whole steps."""
    if key.kind == "number":
        steps = key_list_of(key.values or ()).steps(key.step or Fraction(1))
        assert steps is not None  # `key_of` refuses keys that are too far from zero
        return list(steps.tolist())
    return [value if isinstance(value, bool) else str(value) for value in key.values or ()]
