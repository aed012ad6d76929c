"""Groups by a date that is written as text: STRFTIME(day, '%Y-%m'), TO_CHAR, DATE_FORMAT.

The text says which month it is, and nothing else. So the rows are grouped by the month itself,
and the text is made of the released months.
"""

from sqlglot import exp

from deniable.query.outer.level_split import output_name
from deniable.query.outer.window_split import has_only

_UNITS = {
    "%Y": "YEAR",
    "%Y-%m": "MONTH",
    "%Y-%m-%d": "DAY",
    "%Y-%m-%d %H": "HOUR",
    "%Y-%m-%d %H:00": "HOUR",
    "%Y-%m-%d %H:%M": "MINUTE",
}
_KNOWN = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit")
_LETTERS = (("YYYY", "%Y"), ("MM", "%m"), ("DD", "%d"), ("HH24", "%H"), ("MI", "%M"))


def split_formats(select: exp.Select) -> tuple[exp.Select, exp.Select] | None:
    """The question by dates, and the SELECT over its answer, still without FROM. None if no
    selected expression is such a text.

    >>> import sqlglot
    >>> text = "SELECT STRFTIME(d, '%Y-%m') AS m, COUNT(*) AS n FROM t GROUP BY m ORDER BY m"
    >>> [part.sql("duckdb") for part in split_formats(sqlglot.parse_one(text, "duckdb"))]
    ["SELECT DATE_TRUNC('MONTH', d) AS m, COUNT(*) AS n FROM t GROUP BY m ORDER BY m",
     "SELECT STRFTIME(m, '%Y-%m') AS m, n"]
    """
    if not has_only(select, *_KNOWN):
        return None
    if not any(_read(output.unalias()) for output in select.expressions):
        return None
    inner, outer = select.copy(), exp.Select()
    names = [output_name(output) for output in inner.expressions]
    for output, name in zip(inner.expressions, names, strict=True):
        column: exp.Expr = exp.column(exp.to_identifier(name))
        formatted_date = _read(output.unalias())
        if formatted_date is not None:
            value, text = formatted_date
            column = exp.alias_(
                exp.TimeToStr(this=column, format=exp.Literal.string(text)), name
            )
            dates = exp.TimestampTrunc(this=value.copy(), unit=exp.var(_UNITS[text]))
            _replace_everywhere(inner, output.unalias().copy(), dates)
        outer.append("expressions", column)
    named = zip(inner.expressions, names, strict=True)
    inner.set("expressions", [exp.alias_(e.unalias().copy(), name) for e, name in named])
    return inner, outer


def _read(node: exp.Expr) -> tuple[exp.Expr, str] | None:
    """The date and the format of a call that writes a date as text, if the format is known."""
    if isinstance(node, exp.TimeToStr | exp.ToChar):
        value, written = node.this, node.args.get("format")
        if isinstance(value, exp.Literal):  # STRFTIME('%Y-%m', d)
            value, written = written, value
    elif isinstance(node, exp.Anonymous) and node.name.upper() == "DATE_FORMAT":
        value, written = (*node.expressions, None, None)[:2]
    else:
        return None
    if not isinstance(written, exp.Literal) or not written.is_string or value is None:
        return None
    text = str(written.this)
    if isinstance(node, exp.ToChar):
        for letters, sign in _LETTERS:
            text = text.replace(letters, sign)
    return (value, text) if text in _UNITS else None


def _replace_everywhere(select: exp.Select, old: exp.Expr, new: exp.Expr) -> None:
    """In what is selected, grouped and sorted by; a condition needs the text itself."""
    parts = [*select.expressions, select.args.get("group"), select.args.get("order")]
    for part in filter(None, parts):
        for node in list(part.walk()):
            if node == old:
                node.replace(new.copy())
