"""Windows over the rows of one unit, as in LAG(day) OVER (PARTITION BY patient ORDER BY day).

Whether the parts of PARTITION BY hold the unit is known only where names are looked up.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.sql_calls import quote_sql
from deniable.query.language.syntax_tree import Call, Expression, Literal

Reader: TypeAlias = Callable[[exp.Expr], Expression]

WINDOW = "window"  # of a function, PARTITION BY, ORDER BY and maybe a frame
MOST_ROWS_AWAY = 1000  # of LAG, LEAD and the ends of a frame
RANKS = frozenset(["row number", "rank", "dense rank"])
_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.RowNumber: "row number",
    exp.Rank: "rank",
    exp.DenseRank: "dense rank",
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first value",
    exp.LastValue: "last value",
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_UNFRAMED = RANKS | {"lag", "lead"}
_ORDERED = _UNFRAMED | {"first value", "last value"}
_AGGREGATES = frozenset(["count", "sum", "avg", "min", "max"])
_WORDS = "ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE, COUNT, SUM, AVG, MIN and MAX"
_FAR = {"PRECEDING": -1, "FOLLOWING": 1}


def read_window(node: exp.Window, read: Reader) -> Call:
    """A window function, its partition, its order and its frame."""
    name = _FUNCTIONS.get(type(node.this))
    allowed = ("this", "partition_by", "order", "spec", "over")
    if name is None or any(value and part not in allowed for part, value in node.args.items()):
        raise _refusal(node, f"The functions of windows here are {_WORDS}.")
    keys, order = node.args.get("partition_by") or [], node.args.get("order")
    if not keys:
        raise _refusal(
            node,
            "Without PARTITION BY the privacy unit, a window function depends on other "
            "people's rows.",
        )
    if name in _ORDERED and order is None:
        raise _refusal(node, "Say in which order: ORDER BY a column of the rows.")
    function, ends = _function(name, node, read), _frame(node, name)
    if ends == [None, None] and name in _AGGREGATES:  # of all rows, in any order
        order, ends = None, []
    parts = [function, Call("partitioned", tuple(map(read, keys)))]
    parts.append(Call("ordered", tuple(_sorted(part, read) for part in _parts(order))))
    if ends:
        frame = tuple(Literal(None if end is None else Fraction(end)) for end in ends)
        parts.append(Call("frame", frame))
    return Call(WINDOW, tuple(parts))


def _refusal(node: exp.Expr, why: str) -> InvalidQuery:
    return InvalidQuery(f"{quote_sql(node)} is not supported. {why}")


def _parts(order: exp.Expr | None) -> list[exp.Expr]:
    return [] if order is None else order.expressions


def _function(name: str, node: exp.Window, read: Reader) -> Call:
    """The function with its argument, and of LAG and LEAD how far away its row is."""
    function = node.this
    further = {"expressions", "default", "distinct"}
    if any(function.args.get(part) for part in further):
        raise _refusal(node, "It takes one argument; for a default write COALESCE(LAG(x), 0).")
    argument = function.args.get("this")
    if isinstance(argument, exp.Distinct | exp.Order | exp.IgnoreNulls | exp.HavingMax):
        raise _refusal(node, "It takes one argument, and no other word in its brackets.")
    if name in RANKS or isinstance(argument, exp.Star):
        return Call(name, ())
    if argument is None:
        raise _refusal(node, "It needs an argument.")
    if name not in ("lag", "lead"):
        return Call(name, (read(argument),))
    away = function.args.get("offset") or exp.Literal.number(1)
    return Call(name, (read(argument), Literal(Fraction(_rows_away(away, node)))))


def _rows_away(node: exp.Expr, window: exp.Window) -> int:
    """A constant number of rows."""
    whole = isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit()
    if not whole or len(node.this) > 4 or int(node.this) > MOST_ROWS_AWAY:
        raise _refusal(window, f"Rows are counted by constants from 0 to {MOST_ROWS_AWAY:,}.")
    return int(node.this)


def _sorted(part: exp.Expr, read: Reader) -> Call:
    if part.args.get("nulls_first"):
        raise _refusal(part, "NULLs come last in a window. Leave out NULLS FIRST.")
    if part.args.get("with_fill") or isinstance(part.this, exp.Literal):
        raise _refusal(part, "A window is ordered by columns of the rows.")
    return Call("down" if part.args.get("desc") else "up", (read(part.this),))


def _frame(node: exp.Window, name: str) -> list[int | None]:
    """The ends of ROWS BETWEEN, as rows away from this one; None where there is no end. The
    list is empty without a frame: all rows count up to those that tie with this one."""
    spec = node.args.get("spec")
    if spec is None:
        if name == "last value":
            raise _refusal(node, "It is this row's own. Use FIRST_VALUE and ORDER BY ... DESC.")
        return []
    if name in _UNFRAMED or spec.args.get("exclude"):
        raise _refusal(node, "A frame belongs to COUNT, SUM, AVG, MIN, MAX and FIRST_VALUE.")
    first, last = ends = [_end(node, spec, "start"), _end(node, spec, "end")]
    kind = spec.args.get("kind")
    if kind == "RANGE" and ends == [None, 0] and name != "last value":
        return []
    if kind != "ROWS" and ends != [None, None]:
        raise _refusal(node, "Frames are ROWS BETWEEN ... AND ..., with constants.")
    if node.args.get("order") is None and ends != [None, None]:
        raise _refusal(node, "A frame needs an order: ORDER BY a column of the rows.")
    if first is not None and last is not None and first > last:
        raise _refusal(node, "The frame ends before it begins.")
    return ends


def _end(node: exp.Window, spec: exp.Expr, which: str) -> int | None:
    end, side = spec.args.get(which), spec.args.get(f"{which}_side")
    if end in ("CURRENT ROW", None):
        return 0
    if end == "UNBOUNDED":
        if (which, side) in (("start", "PRECEDING"), ("end", "FOLLOWING")):
            return None
        raise _refusal(node, "The frame ends before it begins.")
    return _FAR[str(side)] * _rows_away(end, node)


def read_qualify(select: exp.Select, read: Reader) -> Expression | None:
    """The condition of QUALIFY; DISTINCT ON, which keeps one row of each value, becomes one."""
    qualify, distinct = select.args.get("qualify"), select.args.get("distinct")
    first = None if distinct is None else distinct.args.get("on")
    if first is None:
        return None if qualify is None else read(qualify.this)
    if qualify is not None or select.args.get("order") is None:
        raise InvalidQuery(
            "DISTINCT ON needs ORDER BY, which says what row comes first, and no QUALIFY: "
            "SELECT DISTINCT ON (patient) patient, cost FROM visits ORDER BY patient, day."
        )
    order = exp.Order(expressions=[part.copy() for part in select.args["order"].expressions])
    window = exp.Window(
        this=exp.RowNumber(), partition_by=first.expressions, order=order, over="OVER"
    )
    return read(exp.EQ(this=window, expression=exp.Literal.number(1)))
