"""Which tables a statement reads: by the statement itself, not by what a plan says about it."""

from collections.abc import Callable, Iterator

from sqlglot import exp

_SOURCES = (exp.Table, exp.Subquery)  # what may stand after FROM and JOIN


def tables_read(
    tree: exp.Query, is_apart: Callable[[exp.Select], bool] = lambda _: False
) -> Iterator[tuple[str, bool]]:
    """The name of each table that is read, once for each place; and whether it is read inside
    of a query for which `is_apart` is true.

    A name that a WITH clause defines there is no table, nor is the definition's own name in
    it. Anything else that can be read, such as a function or a file, has the empty name.

    >>> import sqlglot
    >>> query = 'WITH "a" AS (SELECT * FROM "a") SELECT * FROM "a", (SELECT * FROM read("b"))'
    >>> list(tables_read(sqlglot.parse_one(query, dialect="duckdb")))
    [('', False), ('a', False)]
    """
    waiting: list[tuple[exp.Expr, frozenset[str], bool]] = [(tree, frozenset(), False)]
    while waiting:
        node, defined, apart = waiting.pop()
        apart = apart or (isinstance(node, exp.Select) and is_apart(node))
        if isinstance(node, exp.Table):
            name = _name(node)
            if name not in defined:
                yield name, apart
        elif isinstance(node, exp.Lateral) or (
            isinstance(node, exp.From | exp.Join) and not isinstance(node.this, _SOURCES)
        ):
            yield "", apart
        clause = node.args.get("with_")
        for definition in () if clause is None else clause.expressions:
            waiting.append((definition, defined, apart))
            defined |= {definition.alias}
        rest = (child for child in node.iter_expressions() if child is not clause)
        waiting += ((child, defined, apart) for child in rest)


def _name(source: exp.Table) -> str:
    """The name of a table, if it is nothing but a quoted name."""
    named = source.this
    given = {key for key, value in source.args.items() if value}
    if not isinstance(named, exp.Identifier) or not named.quoted or given - {"this", "alias"}:
        return ""
    return str(named.this)
