"""Spellings of other systems, rewritten into SQL that questions know.

Each rule takes a node of sqlglot's tree and returns another node, or None where it does not
apply. DuckDB gives the same value to both, wherever it knows both (`test_respell.py`).
"""

from collections.abc import Callable

import sqlglot
from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.spellings.patterns import rewrite_pattern
from deniable.query.language.spellings.spans import (
    compare_spans,
    count_whole_units,
    seconds_of_span,
    whole_units_between,
)
from deniable.query.language.spellings.written_dates import compare_written, write_part
from deniable.query.language.spellings.written_lists import element_in_select

Rule = Callable[[exp.Expr], exp.Expr | None]

_DAY_NAMES = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
_MONTH_NAMES = ["January", "February", "March", "April", "May", "June"]
_MONTH_NAMES += ["July", "August", "September", "October", "November", "December"]
_MOST_BUCKETS = 1000


def respell(node: exp.Expr) -> exp.Expr | None:
    """The node in other words; None if it needs none.

    >>> import sqlglot
    >>> respell(sqlglot.parse_one("NVL2(a, 1, 0)", dialect="duckdb")).sql("duckdb")
    'CASE WHEN NOT a IS NULL THEN 1 ELSE 0 END'
    """
    if isinstance(node, exp.Anonymous):
        rule = _NAMED.get(str(node.this).lower())
        return None if rule is None else rule(node)
    for rule in _RULES.get(type(node), ()):
        replacement = rule(node)
        if replacement is not None:
            return replacement
    return None


def _parts(node: exp.Expr, *counts: int) -> list[exp.Expr] | None:
    """The arguments of a call, if it has one of these numbers of them."""
    return list(node.expressions) if len(node.expressions) in counts else None


def _by_number(part: exp.Expr, first: int, names: list[str]) -> exp.Expr:
    """A name for each value of a part of a date."""
    case = exp.Case()
    for number, name in enumerate(names, first):
        same = exp.EQ(this=part.copy(), expression=exp.Literal.number(number))
        case = case.when(same, exp.Literal.string(name), copy=False)
    return case


def _day_name(node: exp.Expr) -> exp.Expr | None:
    return _by_number(exp.DayOfWeek(this=node.this), 0, _DAY_NAMES)


def _month_name(node: exp.Expr) -> exp.Expr | None:
    return _by_number(exp.Month(this=node.this), 1, _MONTH_NAMES)


def _width_bucket(node: exp.Expr) -> exp.Expr | None:
    """WIDTH_BUCKET(x, low, high, n): 0 below, n + 1 from `high` on."""
    low, high, count = (node.args.get(n) for n in ("min_value", "max_value", "num_buckets"))
    ends = [_number(end) for end in (low, high, count)]
    if None in ends or not ends[0] < ends[1] or not 1 <= ends[2] <= _MOST_BUCKETS:  # type: ignore[operator]
        raise InvalidQuery(
            "WIDTH_BUCKET takes a column, two constants and a number of buckets from 1 to "
            f"{_MOST_BUCKETS:,}, as in WIDTH_BUCKET(age, 0, 100, 10)."
        )
    assert low is not None
    assert high is not None
    assert count is not None
    scaled = exp.Div(
        this=exp.paren(
            exp.Mul(
                this=exp.paren(exp.Sub(this=node.this.copy(), expression=low.copy())),
                expression=count.copy(),
            )
        ),
        expression=exp.paren(exp.Sub(this=high.copy(), expression=low.copy())),
    )
    inside = exp.Add(this=exp.Floor(this=scaled), expression=exp.Literal.number(1))
    case = exp.Case().when(exp.LT(this=node.this.copy(), expression=low), 0, copy=False)
    above = exp.GTE(this=node.this.copy(), expression=high)
    beyond = exp.Literal.number(int(ends[2] or 0) + 1)
    return case.when(above, beyond, copy=False).else_(inside, copy=False)


def _number(node: exp.Expr | None) -> float | None:
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    plain = isinstance(node, exp.Literal) and not node.is_string
    return float(node.this) if plain and node is not None else None


def _second_value(node: exp.Expr) -> exp.Expr | None:
    if node.args.get("true") is None or node.args.get("false") is None:
        return None
    known = exp.Not(this=exp.Is(this=node.this, expression=exp.null()))
    return (
        exp.Case()
        .when(known, node.args["true"], copy=False)
        .else_(node.args["false"], copy=False)
    )


def _safe_divide(node: exp.Expr) -> exp.Expr | None:
    zero = exp.Nullif(this=node.expression, expression=exp.Literal.number(0))
    return exp.Div(this=exp.paren(node.this), expression=zero)


def _distinct_rows(node: exp.Expr) -> exp.Expr | None:
    """COUNT(DISTINCT a, b), and COUNT(DISTINCT (a, b)), which counts NULLs too: of texts that
    tell all rows of values apart."""
    counted = node.this
    if not isinstance(counted, exp.Distinct):
        return None
    listed = list(counted.expressions)
    row = listed[0].expressions if len(listed) == 1 and isinstance(listed[0], exp.Tuple) else []
    if len(row) < 2 and len(listed) < 2:
        return None
    told = None
    for value in row or listed:
        text = exp.cast(value.copy(), "text")
        length = exp.cast(exp.Length(this=text.copy()), "text")
        part: exp.Expr = exp.DPipe(
            this=exp.DPipe(this=length, expression=exp.Literal.string(":")), expression=text
        )
        part = exp.func("COALESCE", part, exp.Literal.string("")) if row else part
        told = part if told is None else exp.DPipe(this=told, expression=part)
    return exp.Count(this=exp.Distinct(expressions=[told]), big_int=True)


def _distinct_mean(node: exp.Expr) -> exp.Expr | None:
    """AVG(DISTINCT x) is SUM(DISTINCT x) / COUNT(DISTINCT x), with a FILTER for both."""
    mean = node.this if isinstance(node, exp.Filter) else node
    named = isinstance(mean, exp.Anonymous) and str(mean.this).lower() == "mean"
    values = mean.expressions[0] if named and len(mean.expressions) == 1 else mean.this
    if not (named or isinstance(mean, exp.Avg)) or not isinstance(values, exp.Distinct):
        return None
    if len(values.expressions) != 1:
        return None
    both: list[exp.Expr] = [exp.Sum(this=values), exp.Count(this=values, big_int=True)]
    if mean is not node:
        both = [exp.Filter(this=part, expression=node.expression) for part in both]
    return exp.Div(this=both[0].copy(), expression=both[1].copy())


def _distinct_extreme(node: exp.Expr) -> exp.Expr | None:
    """MIN(DISTINCT x) is MIN(x)."""
    values = node.this.expressions if isinstance(node.this, exp.Distinct) else []
    return type(node)(this=values[0].copy()) if len(values) == 1 else None


def _joined_with(node: exp.Expr) -> exp.Expr | None:
    """CONCAT_WS(sign, a, b): without the NULLs."""
    sign, *values = node.expressions or [None]
    if not isinstance(sign, exp.Literal) or len(values) < 2:
        return None
    joined: exp.Expr | None = None
    for value in values:
        part: exp.Expr = exp.DPipe(this=sign.copy(), expression=value.copy())
        part = exp.func("COALESCE", part, exp.Literal.string(""))
        joined = part if joined is None else exp.DPipe(this=joined, expression=part)
    assert joined is not None
    start = exp.Literal.number(len(sign.this) + 1)
    return exp.Substring(this=joined, start=start)


def _named_rule(build: Callable[..., exp.Expr], *counts: int) -> Rule:
    def rule(node: exp.Expr) -> exp.Expr | None:
        arguments = _parts(node, *counts)
        return (
            None if arguments is None else build(*(argument.copy() for argument in arguments))
        )

    return rule


def _zero_if_null(value: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])


def _square(value: exp.Expr) -> exp.Expr:
    return exp.Mul(this=exp.paren(value), expression=exp.paren(value.copy()))


def _constant_date(text: exp.Expr, _format: exp.Expr | None = None) -> exp.Expr:
    return exp.cast(text, "date")


def _days_later(node: exp.Expr) -> exp.Expr | None:
    """CAST(d AS DATE) + 7 is a date plus an interval of 7 days."""
    date, days = node.this.unnest(), node.expression
    dated = isinstance(date, exp.Date) or (isinstance(date, exp.Cast) and date.is_type("date"))
    whole = isinstance(days, exp.Literal) and not days.is_string and days.this.isdigit()
    if not dated or not whole:
        return None
    span = exp.Interval(this=exp.Literal.string(days.this), unit=exp.var("DAY"))
    return type(node)(this=node.this.copy(), expression=span)


def _last_day(node: exp.Expr) -> exp.Expr:
    """LAST_DAY(d): the day before the first one of the next month."""
    start = exp.TimestampTrunc(this=node.this.copy(), unit=exp.var("MONTH"))
    month, day = (
        exp.Interval(this=exp.Literal.string("1"), unit=exp.var(unit))
        for unit in ("MONTH", "DAY")
    )
    return exp.Sub(this=exp.Add(this=start, expression=month), expression=day)


def _json_text(value: exp.Expr, path: exp.Expr) -> exp.Expr:
    """GET_JSON_OBJECT(x, path) is x ->> path."""
    read = sqlglot.parse_one(f"x ->> {path.sql('duckdb')}", dialect="duckdb")
    return exp.JSONExtractScalar(this=value, expression=read.args["expression"])


_NAMED: dict[str, Rule] = {
    "get_json_object": _named_rule(_json_text, 2),
    "mean": _distinct_mean,
    "weekday": _named_rule(lambda date: exp.DayOfWeek(this=date), 1),
    "dayofmonth": _named_rule(lambda date: exp.Day(this=date), 1),
    "unix_timestamp": _named_rule(lambda date: exp.TimeToUnix(this=date), 1),
    "approx_percentile": _named_rule(
        lambda value, level: exp.Quantile(this=value, quantile=level), 2
    ),
    "approx_median": _named_rule(lambda value: exp.Median(this=value), 1),
    "iff": _named_rule(lambda test, yes, no: exp.If(this=test, true=yes, false=no), 3),
    "zeroifnull": _named_rule(_zero_if_null, 1),
    "square": _named_rule(_square, 1),
    "to_date": _named_rule(_constant_date, 1),
    "date_format": write_part,
    "date_sub": count_whole_units,
    "datesub": count_whole_units,
}
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_RULES: dict[type[exp.Expr], tuple[Rule, ...]] = {
    **dict.fromkeys(_COMPARED, (compare_spans, compare_written)),
    exp.Explode: (lambda node: element_in_select(),),
    exp.In: (compare_written,),
    # sqlglot's own words for ANY_VALUE(x), which is refused by that name
    exp.IgnoreNulls: (lambda node: node.this if isinstance(node.this, exp.AnyValue) else None,),
    exp.Between: (compare_written,),
    exp.TimeToStr: (write_part,),
    exp.ToChar: (write_part,),
    exp.Dayname: (_day_name,),
    exp.Monthname: (_month_name,),
    exp.DayOfMonth: (lambda node: exp.Day(this=node.this),),
    exp.WeekOfYear: (lambda node: exp.Week(this=node.this),),
    exp.TimestampDiff: (whole_units_between,),
    exp.TimeToUnix: (seconds_of_span,),
    exp.Extract: (seconds_of_span,),
    exp.LastDay: (_last_day,),
    exp.WidthBucket: (_width_bucket,),
    exp.Nvl2: (_second_value,),
    exp.SafeDivide: (_safe_divide,),
    exp.Count: (_distinct_rows,),
    **dict.fromkeys((exp.Add, exp.Sub), (_days_later,)),
    exp.Avg: (_distinct_mean,),
    exp.Filter: (_distinct_mean,),
    **dict.fromkeys((exp.Min, exp.Max), (_distinct_extreme,)),
    exp.ConcatWs: (_joined_with,),
    **dict.fromkeys(
        (exp.RegexpLike, exp.RegexpILike, exp.RegexpFullMatch, exp.SimilarTo),
        (rewrite_pattern,),
    ),
}
