"""The parts of one SELECT over released rows: what chooses rows, and its own expressions."""

from sqlglot import exp

from deniable.query.outer.noise_dependence import DependenceReader, Kind


def remove_choice(tree: exp.Select, reader: DependenceReader) -> list[bool]:
    """Removes what sorts rows, or chooses them by noise, at the end; says what chose so."""

    def is_noisy(node: exp.Expr) -> bool:
        return reader.read(node).kind != Kind.PUBLIC

    outputs = {output.alias_or_name: output.unalias() for output in tree.expressions}
    order, chosen = tree.args.get("order"), []
    if tree.args.get("limit") or tree.args.get("offset"):
        by = [node.this for node in order.expressions] if order else []
        own = [outputs.get(node.name, node) if _is_name(node) else node for node in by]
        chosen += [is_noisy(node) for node in own]
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
        not _is_window(found)
        for output in node.expressions
        for found in own_nodes(output, exp.AggFunc)
    )


def _is_window(node: exp.Expr) -> bool:
    """Whether a function is the one of a window, such as ANY_VALUE in ANY_VALUE(x) OVER ()."""
    while isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        node = node.parent
    return isinstance(node.parent, exp.Window)


def own_nodes(node: exp.Expr, *kinds: type[exp.Expr]) -> list[exp.Expr]:
    """The nodes of these kinds, without those of sub-queries."""
    walked = node.walk(prune=lambda inner: isinstance(inner, exp.Select | exp.Subquery))
    return [inner for inner in walked if isinstance(inner, kinds)]
