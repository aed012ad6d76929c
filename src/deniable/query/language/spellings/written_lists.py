"""UNNEST of a list column in all its spellings: in FROM, by LATERAL VIEW, and in SELECT."""

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.sql_calls import quote_sql
from deniable.query.language.syntax_tree import ColumnRef, Relation, Unnested

IN_SELECT = "(unnested)"  # the name of the table of an UNNEST in SELECT
_NAME = "unnest"  # of elements that are given no other
_EXAMPLE = "FROM visits, UNNEST(visits.codes) AS u(code)"


def element_in_select() -> exp.Expr:
    """What UNNEST(x) in SELECT stands for: a column of the rows that it makes."""
    return exp.column(_NAME, table=IN_SELECT)


def add_lists(relation: Relation, select: exp.Expr) -> Relation:
    """A relation with the lists of LATERAL VIEW and of UNNEST in SELECT."""
    for lateral in select.args.get("laterals") or ():
        relation = _unnest(relation, lateral, outer=bool(lateral.args.get("outer")))
    lists = {
        node.sql("duckdb"): node
        for output in select.expressions
        for node in output.find_all(exp.Explode)
        if node.parent_select in (select, None)
    }
    if not lists:
        return relation
    windows = any(output.find(exp.Window) for output in select.expressions)
    if len(lists) > 1 or windows or select.args.get("qualify"):
        raise InvalidQuery(
            "SELECT takes one UNNEST, and none beside windows. Write it into FROM: SELECT code "
            f"{_EXAMPLE}."
        )
    (node,) = lists.values()
    return Unnested(relation, _list_column(node.this), IN_SELECT, _NAME)


def read_unnested(left: Relation, join: exp.Expr) -> Relation | None:
    """The relation with a list that stands behind a comma or JOIN; None for another join."""
    if not isinstance(join.this, exp.Unnest | exp.Lateral):
        return None
    on, side = join.args.get("on"), str(join.args.get("side") or "")
    always = on is None or (isinstance(on, exp.Boolean) and on.this)
    kind, method = (str(join.args.get(name) or "") for name in ("kind", "method"))
    plain = side in ("", "LEFT") and kind in ("", "CROSS", "INNER", "OUTER") and not method
    if not (always and plain) or join.args.get("using"):
        raise InvalidQuery(
            f"{quote_sql(join)} is not supported. Write {_EXAMPLE}, or LEFT JOIN UNNEST(codes) "
            "AS u(code) ON TRUE, and further conditions into WHERE."
        )
    return _unnest(left, join.this, outer=side == "LEFT")


def _unnest(left: Relation, node: exp.Expr, *, outer: bool) -> Relation:
    alias, inner = node.args.get("alias"), node
    names = [] if alias is None else [column.name for column in alias.args.get("columns") or ()]
    if isinstance(node, exp.Lateral):
        inner = node.this
        selected = inner.this if isinstance(inner, exp.Subquery) else None
        if isinstance(selected, exp.Select):  # LATERAL (SELECT UNNEST(codes) AS code)
            clauses = {name for name, value in selected.args.items() if value}
            output = selected.expressions[0]
            if clauses == {"expressions"} and len(selected.expressions) == 1:
                names = names or [output.alias or _NAME]
                inner = output.unalias()
    listed = inner.expressions if isinstance(inner, exp.Unnest) else [inner.this]
    is_one_list = isinstance(inner, exp.Unnest | exp.Explode) and len(listed) == 1
    if (
        not is_one_list
        or type(inner) is exp.Posexplode
        or inner.args.get("offset")
        or len(names) > 1
    ):
        raise InvalidQuery(
            f"{quote_sql(node)} cannot be read from. One list of a row is read by {_EXAMPLE}."
        )
    name = None if alias is None or not alias.this else alias.this.name
    return Unnested(left, _list_column(listed[0]), name, names[0] if names else None, outer)


def _list_column(node: exp.Expr) -> ColumnRef:
    if not isinstance(node, exp.Column):
        raise InvalidQuery(
            f"UNNEST takes a column of lists, whose `length` the policy declares, as in "
            f"{_EXAMPLE}. Found {quote_sql(node)}."
        )
    return ColumnRef(node.name, node.table or None)
