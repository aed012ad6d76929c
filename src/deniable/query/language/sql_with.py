"""WITH: each use of a named sub-query is replaced by the sub-query, before anything is read.

A few short definitions, each of which uses the one before it twice, can expand to a huge tree.
So the nodes that are put in are counted.
"""

from collections.abc import Mapping

from sqlglot import exp

from deniable.errors import InvalidQuery

_MOST_NODES = 20_000


def expand_with(statement: exp.Expr) -> exp.Expr:
    """The statement without WITH.

    >>> import sqlglot
    >>> text = "WITH a AS (SELECT x FROM t) SELECT SUM(x) FROM a"
    >>> expand_with(sqlglot.parse_one(text)).sql()
    'SELECT SUM(x) FROM (SELECT x FROM t) AS a'
    """
    return _WithExpansion().expand(statement, {})


class _WithExpansion:
    def __init__(self) -> None:
        self.nodes = 0

    def expand(self, node: exp.Expr, definitions: Mapping[str, exp.Expr]) -> exp.Expr:
        """The node with every use of a known name replaced. Its children change in place."""
        clause = node.args.get("with_")
        if clause is not None:
            definitions = self._define(clause, dict(definitions))
            node.set("with_", None)
        if isinstance(node, exp.Table):
            definition = definitions.get(node.name.lower()) if not node.args.get("db") else None
            if definition is not None and isinstance(node.this, exp.Identifier):
                return self._use(node, definition)
        for child in list(node.iter_expressions()):
            expanded = self.expand(child, definitions)
            if expanded is not child:
                child.replace(expanded)
        return node

    def _define(
        self, clause: exp.Expr, definitions: dict[str, exp.Expr]
    ) -> dict[str, exp.Expr]:
        if clause.args.get("recursive"):
            raise InvalidQuery(
                "WITH RECURSIVE is not supported: one row could lead to any number of others. "
                "Use WITH."
            )
        for definition in clause.expressions:
            if not isinstance(definition, exp.CTE):
                raise InvalidQuery("WITH takes sub-queries: WITH name AS (SELECT ...).")
            columns = definition.args["alias"].args.get("columns") or []
            expanded = self.expand(definition.this, definitions)
            definitions[definition.alias.lower()] = exp.Subquery(
                this=expanded, alias=exp.TableAlias(columns=columns)
            )
        return definitions

    def _use(self, node: exp.Expr, definition: exp.Expr) -> exp.Expr:
        self.nodes += sum(1 for _ in definition.walk())
        if self.nodes > _MOST_NODES:
            raise InvalidQuery(
                "The sub-queries of WITH use one another so often that, written out, the "
                "question would be too long. Use each of them at most a few times."
            )
        extras = [key for key in ("sample", "pivots", "joins") if node.args.get(key)]
        if extras:
            raise InvalidQuery(f"{extras[0].upper()} on {node.name} is not supported.")
        own = node.args.get("alias")
        name = exp.to_identifier(own.name if own and own.name else node.name)
        columns = (own.args.get("columns") if own else None) or definition.args["alias"].args[
            "columns"
        ]
        alias = exp.TableAlias(this=name, columns=[column.copy() for column in columns])
        return exp.Subquery(this=definition.this.copy(), alias=alias)
