"""The parts of one SELECT over released rows: what chooses rows, and its own expressions."""

from collections.abc import Mapping

from sqlglot import exp

from deniable.query.outer.noise_dependence import DependenceReader, Kind, NoiseDependence


def remove_choice(tree: exp.Select, reader: DependenceReader) -> list[bool]:
    """Removes what sorts rows, or chooses them by noise, at the end; says what chose so."""

    def is_noisy(node: exp.Expr) -> bool:
        return reader.read(node).kind != Kind.PUBLIC

    outputs = {output.alias_or_name: output.unalias() for output in tree.expressions}
    order, chosen = tree.args.get("order"), []
    if tree.args.get("limit") or tree.args.get("offset"):
        by = [node.this for node in order.expressions] if order else []
        own = [outputs.get(node.name, node) if _is_name(node) else node for node in by]
        ends = [tree.args.get(part) for part in ("limit", "offset")]
        chosen += [is_noisy(node) for node in [*own, *filter(None, ends)]]
    windows = any(own_nodes(output, exp.Window) for output in tree.expressions)
    grouped = is_grouped(tree)
    last = "qualify" if tree.args.get("qualify") else "having" if grouped else "where"
    clause = tree.args.get(last)
    if clause is not None and (last == "qualify" or not windows) and is_noisy(clause.this):
        chosen.append(True)
        tree.set(last, None)
    for part in ("order", "limit", "offset"):
        tree.set(part, None)
    return chosen


def _is_name(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and not node.table


def row_conditions(node: exp.Select) -> list[exp.Expr]:
    """What decides which rows there are."""
    joined = [join.args.get("on") for join in node.args.get("joins") or ()]
    clauses = [node.args.get(name) for name in ("where", "having", "qualify")]
    return [part for part in (*joined, *(c.this for c in clauses if c)) if part is not None]


def is_grouped(node: exp.Select) -> bool:
    """Whether the rows of a SELECT are groups of the rows that it reads."""
    return node.args.get("group") is not None or any(
        not _is_window(aggregate)
        for output in node.expressions
        for aggregate in own_nodes(output, exp.AggFunc)
    )


def _is_window(node: exp.Expr) -> bool:
    """Whether a function is the one of a window, such as ANY_VALUE in ANY_VALUE(x) OVER ()."""
    around = (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup)
    while isinstance(node.parent, around):
        node = node.parent
    return isinstance(node.parent, exp.Window)


def write_out_windows(tree: exp.Expr) -> exp.Expr:
    """The tree without WINDOW clauses: each window says what it is.

    >>> import sqlglot
    >>> text = "SELECT SUM(n) OVER w FROM t WINDOW v AS (PARTITION BY k), w AS (v ORDER BY m)"
    >>> write_out_windows(sqlglot.parse_one(text, dialect="duckdb")).sql("duckdb")
    'SELECT SUM(n) OVER (PARTITION BY k ORDER BY m) FROM t'
    """
    for select in list(tree.find_all(exp.Select)):
        named: dict[str, exp.Expr] = {}
        for window in select.args.get("windows") or ():
            name = window.this.name.lower()
            _fill_window(window, named)
            named[name] = window
        for output in (
            *select.expressions,
            select.args.get("qualify"),
            select.args.get("order"),
        ):
            for window in own_nodes(output, exp.Window) if output is not None else ():
                _fill_window(window, named)
        select.set("windows", None)
    return tree


def _fill_window(window: exp.Expr, named: Mapping[str, exp.Expr]) -> None:
    alias = window.args.get("alias")
    if alias is None or alias.name.lower() not in named:
        return
    window.set("alias", None)
    for part in ("partition_by", "order", "spec"):
        named_part = named[alias.name.lower()].args.get(part)
        if named_part and not window.args.get(part):
            copied = (
                [expression.copy() for expression in named_part]
                if isinstance(named_part, list)
                else named_part.copy()
            )
            window.set(part, copied)


def number_values(values: exp.Expr) -> dict[str, NoiseDependence]:
    """The columns of VALUES in FROM, which are public; its rows get numbers.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("FROM t, (VALUES (1), (2)) AS v(a)", dialect="duckdb")
    >>> sorted(number_values(tree.find(exp.Values)))
    ['a']
    >>> tree.sql("duckdb")[17:]
    '(SELECT "a", ROW_NUMBER() OVER () AS "_row" FROM (VALUES (1), (2)) AS v(a)) AS v'
    """
    alias = values.args["alias"]
    names = [column.name for column in alias.args.get("columns") or ()]
    number = exp.Window(this=exp.RowNumber(), over="OVER")
    inner = exp.Select(expressions=[exp.column(name, quoted=True) for name in names])
    inner.append("expressions", exp.alias_(number, "_row", quoted=True))
    inner = inner.from_(values.copy())
    same = exp.TableAlias(this=alias.this.copy())
    values.replace(exp.Subquery(this=inner, alias=same))
    return {name: NoiseDependence() for name in names}


def own_nodes(node: exp.Expr, *kinds: type[exp.Expr]) -> list[exp.Expr]:
    """The nodes of these kinds, without those of sub-queries; from the top, level by level."""
    nodes = [node]
    for inner in nodes:  # it grows; sqlglot's own walk takes three times as long
        if not isinstance(inner, _APART):
            for value in inner.args.values():
                parts = value if type(value) is list else (value,)
                nodes += [part for part in parts if isinstance(part, exp.Expr)]
    return [inner for inner in nodes if isinstance(inner, kinds)]


_APART = (exp.Select, exp.Subquery)
