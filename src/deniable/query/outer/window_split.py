"""A grouped SELECT with window functions: its groups, and what is computed from them.

`SELECT ward, SUM(COUNT(*)) OVER () FROM visits GROUP BY ward` asks for COUNT(*) in each ward;
the window function, HAVING, QUALIFY, ORDER BY and LIMIT follow from these groups.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

_LATER = ("having", "qualify", "order", "limit", "offset", "distinct")
_GROUPED = ("from_", "joins", "where")


def split_windows(select: exp.Select) -> tuple[exp.Select, exp.Select] | None:
    """The question for the groups, and the SELECT over them, still without FROM. None if the
    SELECT has no aggregates of its own.

    >>> import sqlglot
    >>> text = "SELECT w, SUM(COUNT(*)) OVER () AS s FROM t GROUP BY w HAVING COUNT(*) > 5"
    >>> [part.sql() for part in split_windows(sqlglot.parse_one(text))]
    ['SELECT w AS w, COUNT(*) AS "COUNT(*)" FROM t GROUP BY w', 'SELECT w, SUM("COUNT(*)")
    OVER () AS s WHERE "COUNT(*)" > 5']
    """
    if not _needs_split(select) or select.find(exp.Star) in select.expressions:
        return None
    select = select.copy()
    written = _keys(select, select.args.get("group"))
    keys = [key for _, key in written]
    aggregates = [
        node for node in own_aggregates(select) if not _is_inside(node, own_aggregates(select))
    ]
    if not aggregates and not keys:
        return None
    inner = exp.Select(**{name: select.args.get(name) for name in _GROUPED})
    names: dict[exp.Expr, str] = {}
    for expression in select.expressions:
        _unalias(expression, keys, aggregates, names)
    for number, key in enumerate(keys):
        name_part(key, key.name if isinstance(key, exp.Column) else f"key_{number}", names)
    for aggregate in aggregates:
        name_part(aggregate, aggregate.sql(dialect="duckdb"), names)
    inner.set("expressions", [named_part(node.copy(), name) for node, name in names.items()])
    if keys:
        inner.set("group", exp.Group(expressions=[key.copy() for key, _ in written]))
    for key in [key for key in keys if isinstance(key, exp.Column)]:
        names.setdefault(exp.column(key.this.copy()), names[key])  # without its table
    outer = exp.Select(expressions=[_over(e, names) for e in select.expressions])
    for name in _LATER:
        clause = select.args.get(name)
        if clause is not None:
            outer_clause = replace_parts(clause, names)
            if name == "order":
                _keep_outputs(select, clause, outer_clause)
            if name == "having":
                outer.set("where", exp.Where(this=outer_clause.this))
            else:
                outer.set(name, outer_clause)
    return inner, outer


def has_only(select: exp.Select, *clauses: str) -> bool:
    """Whether a SELECT has no other clauses than these: another one must not get lost."""
    return all(not value or name in clauses for name, value in select.args.items())


def _needs_split(select: exp.Select) -> bool:
    """Whether a SELECT has groups, a part that no private question has, and no odd clause."""
    known = ("expressions", "from_", "joins", "where", "group", *_LATER)
    if not has_only(select, *known) or isinstance(select.args.get("limit"), exp.Fetch):
        return False
    listed = [*select.expressions, select.args.get("having"), select.args.get("order")]
    inside = any(part.find(exp.Window, exp.Subquery) for part in filter(None, listed))
    if not inside and not any(select.args.get(name) for name in ("qualify", "offset")):
        return False
    return select.args.get("group") is not None or bool(own_aggregates(select))


def _keys(select: exp.Select, group: exp.Expr | None) -> list[tuple[exp.Expr, exp.Expr]]:
    """What is grouped by, as it is written and what it stands for. Positions and ALL are
    written out. Whether a name is a column or an alias is left to the question's own rules."""
    plain = [e.unalias() for e in select.expressions]
    if group is None:
        return []
    if group.args.get("all"):
        listed = [e for e in plain if e.find(exp.AggFunc, exp.Window) is None]
        return [(e, e) for e in listed]
    return look_up_keys(select, group.expressions)


def look_up_keys(
    select: exp.Select, listed: Sequence[exp.Expr]
) -> list[tuple[exp.Expr, exp.Expr]]:
    """Each key as it is written (a position: what it stands for), and what it means.

    A column beats an alias of the same name, as in DuckDB.

    >>> import sqlglot
    >>> select = sqlglot.parse_one("SELECT x * x AS x, y + 1 AS z FROM t GROUP BY x, z")
    >>> [meant.sql() for _, meant in look_up_keys(select, select.args["group"].expressions)]
    ['x', 'y + 1']
    """
    plain = [e.unalias() for e in select.expressions]
    aliases, columns, read = dict[str, exp.Expr](), set[str](), set[str]()
    for output in select.expressions:
        read |= {column.name.lower() for column in output.find_all(exp.Column)}
        if isinstance(output, exp.Alias):
            aliases[output.alias.lower()] = output.this
            columns |= {output.alias.lower()} & read  # read before it could be an alias
    keys = []
    for key in listed:
        if isinstance(key, exp.Literal) and key.this.isdigit():
            place = int(key.this) - 1
            meant = plain[place] if 0 <= place < len(plain) else key
            keys.append((meant, meant))
        elif isinstance(key, exp.Column) and not key.table:
            name = key.name.lower()
            meant = aliases.get(name, key)
            # An aggregate cannot be a key, and nobody groups by the same thing twice.
            column = name in columns or meant in listed or meant.find(exp.AggFunc)
            keys.append((key, key if column else meant))
        else:
            keys.append((key, key))
    return keys


def own_aggregates(select: exp.Select) -> list[exp.Expr]:
    """The aggregates of the groups: not the functions of windows, and none of sub-queries."""
    listed = [*select.expressions, *(select.args.get(name) for name in _LATER)]
    aggregates: list[exp.Expr] = []
    for part in filter(None, listed):
        for node in part.walk(prune=lambda n: isinstance(n, exp.Select | exp.Subquery)):
            if isinstance(node, exp.Filter) and isinstance(node.this, exp.AggFunc):
                if not _is_window(node):
                    aggregates.append(node)
            elif (
                isinstance(node, exp.AggFunc)
                and not isinstance(node.parent, exp.Filter)
                and not _is_window(node)
            ):
                aggregates.append(node)
    return aggregates


def _is_window(node: exp.Expr) -> bool:
    """Whether a function is the one of a window, such as SUM in SUM(x) OVER ()."""
    while isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        node = node.parent
    return isinstance(node.parent, exp.Window) and node.arg_key == "this"


def _is_inside(node: exp.Expr, others: list[exp.Expr]) -> bool:
    above = node.parent
    while above is not None:
        if any(above is other for other in others):
            return True
        above = above.parent
    return False


def _unalias(
    expression: exp.Expr,
    keys: list[exp.Expr],
    aggregates: list[exp.Expr],
    names: dict[exp.Expr, str],
) -> None:
    """A selected key or aggregate keeps the name that it was given."""
    inner = expression.unalias()
    if inner in keys or any(inner is node for node in aggregates):
        default = inner.name if isinstance(inner, exp.Column) else inner.sql(dialect="duckdb")
        names.setdefault(inner, expression.alias or default)


def name_part(node: exp.Expr, name: str, names: dict[exp.Expr, str]) -> None:
    """Names a key or an aggregate, unless it has a name. No two have the same one."""
    used = {other.lower() for other in names.values()}
    while name.lower() in used:
        name += "_"
    names.setdefault(node, name)


def _keep_outputs(select: exp.Select, order: exp.Expr, outer_order: exp.Expr) -> None:
    """In ORDER BY an alias beats a column of the same name, as in DuckDB."""
    aliases = {e.alias.lower() for e in select.expressions if e.alias}
    for written, node in zip(order.expressions, outer_order.expressions, strict=True):
        by = written.this
        if isinstance(by, exp.Column) and not by.table and by.name.lower() in aliases:
            node.set("this", by.copy())


def _over(expression: exp.Expr, names: dict[exp.Expr, str]) -> exp.Expr:
    """A selected expression over the groups, under the name that was written."""
    inner, alias = expression.unalias(), expression.alias
    written = names.get(inner) or inner.sql(dialect="duckdb")
    replacement = replace_parts(inner, names)
    return (
        replacement
        if replacement.name == (alias or written)
        else named_part(replacement, alias or written)
    )


def replace_parts(node: exp.Expr, replacements: Mapping[exp.Expr, str | exp.Expr]) -> exp.Expr:
    """The node with parts replaced: by columns of these names, or by other expressions.

    Sub-queries are left alone: they have groups of their own.
    """
    if node in replacements:
        part = replacements[node]
        return exp.column(exp.to_identifier(part)) if isinstance(part, str) else part.copy()
    node = node.copy()
    for child in list(node.iter_expressions()):
        if not isinstance(child, exp.Select | exp.Subquery):
            changed = replace_parts(child, replacements)
            if changed != child:
                child.replace(changed)
    return node


def named_part(node: exp.Expr, name: str) -> exp.Expr:
    """A selected expression under a name."""
    return exp.alias_(node, name)
