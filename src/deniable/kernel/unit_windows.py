"""Windows over the rows of one unit that number no rows: LAG, RANK, running counts and sums."""

from sqlglot import exp

from deniable.kernel.expressions import RowScope
from deniable.kernel.reading import Node, no_rule, only, require
from deniable.kernel.values import Value, integer

_FARTHEST = 10**6  # rows from the one that a frame, LAG or LEAD belongs to


def window_value(node: exp.Window, scope: RowScope, *, total: bool) -> Value:
    """The value of a window whose partition keeps units apart; `scope` is that of its groups.
    `total` says that rows which tie in the window's order are equal.

    Proof. The rows of a frame are rows of one unit, so what is computed from them depends on
    that unit alone: COUNT, SUM, MIN and MAX lie where they do for a group, and other functions
    are the value of one of its rows, or NULL. Without ROWS, a frame ends with all rows that tie
    with the last one, so it holds the same rows in whatever order the engine reads them; and
    RANK counts those before them. What tells rows that tie apart needs a total order.
    """
    rows, function, spec = scope.inner, node.this, node.args.get("spec")
    assert rows is not None
    if spec is not None:
        only(spec, "kind", "start", "start_side", "end", "end_side")
        ends = [end for end in (spec.args["start"], spec.args.get("end")) if end is not None]
        inside = all(not isinstance(end, Node) or _near(end) for end in ends)
        require(inside and spec.args["kind"] == "ROWS", "A window has another frame.")
    if isinstance(function, exp.Count | exp.Sum | exp.Min | exp.Max):
        require(total or spec is None, "A frame divides rows that tie.")
        return scope.value(function).optional().interchanged()
    if isinstance(function, exp.Rank | exp.DenseRank) and spec is None:
        only(function)
        return integer(1, max(1, rows.rows.rows), 64)
    require(total, "A window tells rows apart that tie.")
    if isinstance(function, exp.Lag | exp.Lead) and spec is None:
        away = only(function, "this", "offset").args.get("offset")
        require(away is None or _near(away), "A row is too far away.")
    elif not isinstance(function, exp.FirstValue | exp.LastValue):
        raise no_rule(node)
    return rows.value(only(function, "this", "offset").this).optional().interchanged()


def _near(node: Node) -> bool:
    """Whether this is a small constant number of rows."""
    plain = isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit()
    return bool(plain and int(node.this) <= _FARTHEST)
