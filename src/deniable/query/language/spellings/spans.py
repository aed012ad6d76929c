"""Spans of time between two dates: `a - b > INTERVAL 2 DAY`, EPOCH(a - b), TIMESTAMPDIFF.

They are counted in whole seconds, as DATE_DIFF('second', b, a) does. Of dates without a time of
day that is exact; a part of a second does not count.
"""

import re

from sqlglot import exp

from deniable.errors import InvalidQuery

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_COUNT = re.compile(r"[+-]?[0-9]{1,9}")


def _difference(later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
    return exp.DateDiff(
        this=later.copy(), expression=earlier.copy(), unit=exp.Literal.string("second")
    )


def _plain(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _length(node: exp.Expr) -> exp.Expr | None:
    """The seconds of a constant INTERVAL; None for anything else."""
    node = _plain(node)
    if not isinstance(node, exp.Interval) or node.this is None:
        return None
    unit, count = node.text("unit").lower().removesuffix("s"), node.this.name
    if unit not in SECONDS or not _COUNT.fullmatch(count):
        return None
    seconds = int(count) * SECONDS[unit]
    number = exp.Literal.number(abs(seconds))
    return exp.Neg(this=number) if seconds < 0 else number


def compare_spans(node: exp.Expr) -> exp.Expr | None:
    """a - b > INTERVAL 2 DAY: the seconds between both are compared."""
    sides = [_plain(node.this), _plain(node.expression)]
    lengths = [_length(side) for side in sides]
    spans = [
        _difference(side.this, side.expression)
        if isinstance(side, exp.Sub) and _length(side.expression) is None
        else None
        for side in sides
    ]
    if lengths[1] is not None and spans[0] is not None:
        return type(node)(this=spans[0], expression=lengths[1])
    if lengths[0] is not None and spans[1] is not None:
        return type(node)(this=lengths[0], expression=spans[1])
    return None


def seconds_of_span(node: exp.Expr) -> exp.Expr | None:
    """EPOCH(a - b) and EXTRACT(EPOCH FROM a - b)."""
    whole = isinstance(node, exp.Extract)
    if whole and node.this.name.upper() != "EPOCH":
        return None
    span = _plain(node.expression if whole else node.this)
    if not isinstance(span, exp.Sub) or isinstance(_plain(span.expression), exp.Interval):
        return None
    return _difference(span.this, span.expression)


def whole_units_between(node: exp.Expr) -> exp.Expr | None:
    """TIMESTAMPDIFF(HOUR, a, b): how many whole hours have passed from a to b. The parser takes
    the first argument for a date, and the last for a unit."""
    unit, earlier, later = node.this, node.args.get("expression"), node.args.get("unit")
    if earlier is None or later is None:
        return None
    if isinstance(later, exp.Var):
        later = exp.column(later.name)
    return _whole(unit.name, earlier, later, "TIMESTAMPDIFF")


def count_whole_units(node: exp.Expr) -> exp.Expr | None:
    """DATE_SUB('hour', a, b), as DuckDB calls the same."""
    if len(node.expressions) != 3:
        return None
    unit, earlier, later = node.expressions
    return _whole(unit.name, earlier, later, str(node.this).upper())


def _whole(unit: str, earlier: exp.Expr, later: exp.Expr, called: str) -> exp.Expr:
    name = unit.lower().removesuffix("s")
    if name not in SECONDS:
        raise InvalidQuery(
            f"{called} counts whole {'s, '.join(SECONDS)}s. Of months and years, which differ "
            f"in length, count the starts: DATE_DIFF('{name}', a, b)."
        )
    seconds = _difference(later, earlier)
    if name == "second":
        return seconds
    length = exp.Literal.number(SECONDS[name])
    return exp.Trunc(this=exp.Div(this=seconds, expression=length))
