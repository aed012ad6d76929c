"""WITH: each use of a named sub-query becomes that sub-query, before anything is read.

A few short definitions, each of which uses the one before it twice, stand for a huge tree;
so the pieces that are put in are counted.
"""

from collections.abc import Mapping

from sqlglot import exp

from deniable.errors import InvalidQuery

_MOST_PIECES = 20_000


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
        self.pieces = 0

    def expand(self, node: exp.Expr, known: Mapping[str, exp.Expr]) -> exp.Expr:
        """The node with every use of a known name replaced, in place but for itself."""
        clause = node.args.get("with_")
        if clause is not None:
            known = self._define(clause, dict(known))
            node.set("with_", None)
        if isinstance(node, exp.Table):
            found = known.get(node.name.lower()) if not node.args.get("db") else None
            if found is not None and isinstance(node.this, exp.Identifier):
                return self._use(node, found)
        for child in list(node.iter_expressions()):
            made = self.expand(child, known)
            if made is not child:
                child.replace(made)
        return node

    def _define(self, clause: exp.Expr, known: dict[str, exp.Expr]) -> dict[str, exp.Expr]:
        if clause.args.get("recursive"):
            raise InvalidQuery(
                "WITH RECURSIVE is not supported: one row could be followed to any number of "
                "others. Plain WITH is."
            )
        for one in clause.expressions:
            if not isinstance(one, exp.CTE):
                raise InvalidQuery("WITH takes sub-queries: WITH name AS (SELECT ...).")
            columns = one.args["alias"].args.get("columns") or []
            made = self.expand(one.this, known)
            known[one.alias.lower()] = exp.Subquery(
                this=made, alias=exp.TableAlias(columns=columns)
            )
        return known

    def _use(self, node: exp.Expr, definition: exp.Expr) -> exp.Expr:
        self.pieces += sum(1 for _ in definition.walk())
        if self.pieces > _MOST_PIECES:
            raise InvalidQuery(
                "The sub-queries of WITH use one another so often that, written out, the "
                "question would be too long. Use each of them a few times at most."
            )
        extras = [one for one in ("sample", "pivots", "joins") if node.args.get(one)]
        if extras:
            raise InvalidQuery(f"{extras[0].upper()} on {node.name} is not supported.")
        given = node.args.get("alias")
        name = exp.to_identifier(given.name if given and given.name else node.name)
        columns = (given.args.get("columns") if given else None) or definition.args[
            "alias"
        ].args["columns"]
        alias = exp.TableAlias(this=name, columns=[column.copy() for column in columns])
        return exp.Subquery(this=definition.this.copy(), alias=alias)
