"""MIN and MAX of dates: of their days, counted from the first day of the calendar.

The days are numbers with public limits, so that their extremes can be asked for. The date is
made of the released number of days.
"""

from sqlglot import exp

from deniable.query.outer.level_split import output_name
from deniable.query.outer.window_split import has_only

_FIRST = "0001-01-02"  # the calendar of questions ends before 9999-12-31
_DAYS = 3_652_056
_DATES = (exp.Column, exp.Date, exp.Cast)
_KNOWN = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit")


def split_date_extremes(select: exp.Select) -> tuple[exp.Select, exp.Select] | None:
    """The question about days, and the SELECT over its answer, still without FROM. None if no
    output is MIN or MAX of a column.

    >>> import sqlglot
    >>> text = "SELECT ward, MAX(day) AS last FROM t GROUP BY ward"
    >>> [part.sql("duckdb") for part in split_date_extremes(sqlglot.parse_one(text, "duckdb"))]
    ["SELECT ward AS ward, MAX(CLAMP(day - CAST('0001-01-02' AS DATE), 0, 3652056)) AS last
    FROM t GROUP BY ward",
     "SELECT ward, CAST('0001-01-02' AS DATE) + CAST(last AS INT) AS last"]
    """
    if not has_only(select, *_KNOWN) or select.args.get("having") or select.args.get("order"):
        return None
    if not any(_is_extreme(output.unalias()) for output in select.expressions):
        return None
    inner, outer = select.copy(), exp.Select()
    outputs = []
    for output in inner.expressions:
        name, value = output_name(output), output.unalias()
        column: exp.Expr = exp.column(exp.to_identifier(name))
        if _is_extreme(value):
            value = type(value)(this=_days(value.this))
            date = exp.Add(this=_first(), expression=exp.cast(column, "int"))
            column = exp.alias_(date, name)
        outputs.append(exp.alias_(value.copy(), name))
        outer.append("expressions", column)
    inner.set("expressions", outputs)
    return inner, outer


def _is_extreme(node: exp.Expr) -> bool:
    return isinstance(node, exp.Min | exp.Max) and isinstance(node.this, _DATES)


def _first() -> exp.Expr:
    return exp.cast(exp.Literal.string(_FIRST), "date")


def _days(date: exp.Expr) -> exp.Expr:
    days = exp.Sub(this=date.copy(), expression=_first())
    ends = (exp.Literal.number(end) for end in (0, _DAYS))
    return exp.Anonymous(this="CLAMP", expressions=[days, *ends])
