"""What the definition of a view may contain, so that each of its rows is one row of a table.

A row of a private table must not make a question fail, and must not change other rows. A view
can do both: by a cast, a division or a function that raises, by a join, a sub-query, a window
or an aggregate. So only a list of harmless parts is accepted: columns, constants, comparisons,
logic, CASE, COALESCE, and UNION ALL of such selections. ILIKE is not on it: PostgreSQL needs
several times the memory of a text for it, and fails on a long one.
"""

from collections.abc import Collection, Iterator

import sqlglot
from sqlglot import exp

_CLAUSES = {"expressions", "from_", "where", "order"}
_HARMLESS = (
    *(exp.Column, exp.Identifier, exp.Alias, exp.Star, exp.Literal, exp.Null, exp.Boolean),
    *(exp.Paren, exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.Is, exp.Between, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Least),
    *(exp.Greatest, exp.Collate, exp.Any, exp.Array, exp.CurrentUser, exp.SessionUser),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Ordered, exp.Var),
)
_TABLE_PARTS = {"this", "db", "catalog", "alias", "only"}
_TEXTS = {exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR}


def describe_risk(sql: str, dialect: str, not_to_text: Collection[str] = ()) -> str | None:
    """What a view's query contains that is not on the list; None if it is harmless.

    All conversions must be written as casts, as in PostgreSQL's own text of a view: a database
    may convert values before it compares them, and fail for a row.
    `not_to_text` are columns that may become too long as text.

    >>> describe_risk("SELECT a, b FROM t WHERE (b)::text = 'x'::text", "postgres")
    >>> describe_risk("SELECT 1 / a AS b FROM t", "postgres")
    'DIV (1 / a)'
    """
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        return "a part that cannot be read"
    risky = next(_find_risks(tree, set(not_to_text)), None)
    if risky is None:
        tables = [(table.catalog, table.db, table.name) for table in tree.find_all(exp.Table)]
        return "the same table twice" if len(set(tables)) < len(tables) else None
    return f"{type(risky).__name__.upper()} ({risky.sql(dialect=dialect)[:60]})"


def describe_condition_risk(
    sql: str, dialect: str, not_to_text: Collection[str] = ()
) -> str | None:
    """The same for a condition on rows.

    >>> describe_condition_risk("(ward = 'A'::text)", "postgres")
    """
    return describe_risk(f"SELECT 1 FROM t WHERE {sql}", dialect, not_to_text)


def _find_risks(node: exp.Expr, not_to_text: set[str]) -> Iterator[exp.Expr]:
    """The parts of a query that are not on the list."""
    if isinstance(node, exp.Union) and not node.args.get("distinct"):
        yield from _find_risks(node.this, not_to_text)
        yield from _find_risks(node.expression, not_to_text)
    elif isinstance(node, exp.Subquery):
        yield from _find_risks(node.this, not_to_text)
    elif not isinstance(node, exp.Select):
        yield node
    else:
        for key, clause in node.args.items():
            if clause and key not in _CLAUSES:
                yield clause[0] if isinstance(clause, list) else clause
        source = node.args.get("from_")
        if source is not None and not isinstance(source.this, exp.Table):
            yield from _find_risks(source.this, not_to_text)
        elif source is not None and not _is_plain_table(source.this):
            yield source.this
        where, order = node.args.get("where"), node.args.get("order")
        values = [*node.expressions, *([where.this] if where else [])]
        for value in [*values, *(order.expressions if order else [])]:
            yield from _find_risky_values(value, not_to_text)


def _find_risky_values(node: exp.Expr, not_to_text: set[str]) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        if _constant(node.this):
            return
        to = node.args["to"]
        column = node.this.unnest()
        plain = isinstance(column, exp.Column) and column.name not in not_to_text
        if not plain or to.this not in _TEXTS or to.expressions:
            yield node
        return
    if isinstance(node, exp.Neg) and _constant(node.this):
        return
    if isinstance(node, exp.In) and (node.args.get("query") or node.args.get("unnest")):
        yield node
        return
    if isinstance(node, exp.Like) and _harmless_pattern(node):
        yield from _find_risky_values(node.this, not_to_text)
        return
    if not isinstance(node, (*_HARMLESS, exp.In)):
        yield node
        return
    for part in node.iter_expressions():
        yield from _find_risky_values(part, not_to_text)


def _is_plain_table(node: exp.Table) -> bool:
    """Whether this is a table's name, without a join, a sample or a function."""
    parts = {key for key, value in node.args.items() if value}
    return parts <= _TABLE_PARTS and isinstance(node.this, exp.Identifier)


def _constant(node: exp.Expr) -> bool:
    inner = node.unnest()
    if isinstance(inner, exp.Neg | exp.Cast):
        return _constant(inner.this)
    return isinstance(inner, exp.Literal | exp.Null | exp.Boolean)


def _harmless_pattern(node: exp.Expr) -> bool:
    """Whether a pattern is a constant that cannot end with an escape character."""
    pattern = node.expression.unnest()
    pattern = pattern.this if isinstance(pattern, exp.Cast) else pattern
    return isinstance(pattern, exp.Literal) and "\\" not in pattern.name
