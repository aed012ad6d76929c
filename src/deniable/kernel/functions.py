"""The functions of rows that the kernel knows, and the aggregates of groups.

Each function is deterministic and total in the engine. Its result has no useful range, but the
types matter: SIGN makes an integer of 8 bits, and sums of it may overflow. Aggregates are exact
and do not depend on the order of rows: counts, sums of integers, MIN, MAX and MEDIAN.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import inf

from sqlglot import exp

from deniable.kernel.expressions import CALENDAR, NUMBERS, RowScope, Rules, check_kinds, text_of
from deniable.kernel.polynomials import RowSum, Test, joint
from deniable.kernel.reading import Node, match, only, require
from deniable.kernel.values import BOOL, UNSURE, Form, Value, double, hull, integer, stored

_LONGEST = 1 << 14  # characters of a text that grows
_FARTHEST_PLACE = 10**9  # in a text
_UNITS = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "ISODOW", "DOY", "DAYOFWEEK"}
_UNITS |= {"DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "ISOYEAR"}
_TEXT = {"text", "null"}
_LIST = "raw list of "
_STEPS: dict[type[Node], type] = {exp.JSONPathKey: str, exp.JSONPathSubscript: int}
_OF_NUMBERS = (exp.Floor, exp.Ceil, exp.Sqrt, exp.Exp, exp.Ln, exp.Log, exp.Sin, exp.Cos)
_OF_TEXTS = (exp.Lower, exp.Upper, exp.Trim, exp.Reverse, exp.MD5, exp.DPipe, exp.SplitPart)
_TESTS = (exp.StartsWith, exp.EndsWith, exp.Contains, exp.Like, exp.ILike)
_CUTS = (exp.Left, exp.Right, exp.Substring)
_ARGUMENTS = ("this", "expression", "substr", "delimiter", "replacement", "position", "safe")
_SIDES = (("expression", exp.Left), ("expression", exp.Right))
_PLACES = ("start", "length", "part_index")  # positions in a text: constants of moderate size
_ONE = RowSum.constant(1)

# The kinds of the arguments of functions, and what these make. A function of numbers is NaN or
# infinite where it is not defined.
_SIGNATURES: dict[type[Node], tuple[set[str], Value]] = {
    **dict.fromkeys(_OF_NUMBERS, (NUMBERS, double(-inf, inf))),
    exp.Sign: (NUMBERS, integer(-1, 1, 8)),
    **dict.fromkeys((*_OF_TEXTS, *_CUTS), (_TEXT, Value("text"))),
    **dict.fromkeys(_TESTS, (_TEXT, BOOL)),
    **dict.fromkeys((exp.Length, exp.StrPosition), (_TEXT, integer(0, 1 << 40, 64))),
}


def _function(node: Node, scope: RowScope) -> Value:
    """A function of the table: its arguments have the right types; others than expressions are
    words, such as TRIM's LEADING. It is determined up to the sign of a zero if they are."""
    kinds, result = _SIGNATURES[type(node)]
    zeros = result.zeros
    for name, part in only(node, *_ARGUMENTS, *_PLACES).args.items():
        if isinstance(part, Node):
            value, place = scope.value(part), name in _PLACES or (name, type(node)) in _SIDES
            check_kinds([value], {"int"} if place else kinds)
            near = value.low == value.high and abs(value.low) <= _FARTHEST_PLACE
            require(near or not place, "A position in a text is not a small constant.")
            zeros = max(zeros, value.zeros) if zeros else 0
    return result._replace(null=True, zeros=zeros)


def _replaced(node: exp.Replace, scope: RowScope) -> Value:
    """REPLACE(x, old, new) of constants: not longer than x, or limited by a condition before.

    Proof. Let k and k + g be the lengths of both constants, in characters. With c occurrences
    of `old` the result has LENGTH(x) + c * g characters, and x without them c * k fewer than x.
    So k times its length is k * LENGTH(x) + g * (LENGTH(x) - LENGTH(REPLACE(x, old, ''))). The
    condition holds that to k * m, for an m that no text of the engine needs more memory for.
    If `new` has no more bytes than `old`, the result has no more than x.
    """
    old, new = (text_of(node.args[name]) or "" for name in ("expression", "replacement"))
    constant = old and text_of(node.args["replacement"]) is not None
    require(constant, "REPLACE takes constants, and an empty one has no place.")
    check_kinds([scope.value(only(node, "this", "expression", "replacement").this)], _TEXT)
    k, g = len(old), max(len(new) - len(old), 0)
    shape = f"LENGTH(x) * {k} + (LENGTH(x) - LENGTH(REPLACE(x, old, ''))) * {g}"
    parts = {"x": node.this.unnest(), "old": node.expression}
    limits = [v.high for test, v in scope.refined.items() if match(test, shape) == parts]
    short = len(new.encode()) <= len(old.encode()) or min(limits, default=inf) <= k * _LONGEST
    require(short, "REPLACE may make a text longer than the engine's memory allows.")
    return Value("text")


def _power(node: exp.Pow, scope: RowScope) -> Value:
    """A negative power of a zero is an infinity with its sign, so its sign is determined."""
    base, power = values = scope.values(node, "this", "expression")
    check_kinds(values, NUMBERS)
    known = base.zeros != UNSURE or power.low >= 0
    require(known, "The base of a power may be 0 with either sign.")
    return double(-inf, inf, *values)


def _kept_type(node: Node, scope: RowScope) -> Value:
    """ABS, ROUND and TRUNC of an integer keep its type. ABS has no sign to show."""
    value, *digits = values = scope.values(node, "this", "decimals")
    check_kinds(values, NUMBERS)
    if value.kind == "int" and not digits:
        most = max(-value.low, value.high)
        return integer(-most, most, value.bits, value)
    if isinstance(node, exp.Round) and value.bounded and not digits:
        return double(value.low - 1, value.high + 1, value)
    check_kinds([value], {"double", "null"})
    result = double(-inf, inf, *values)
    return result._replace(zeros=0) if isinstance(node, exp.Abs) else result


def _extremum(node: Node, scope: RowScope) -> Value:
    """LEAST and GREATEST skip NULL, so the result is one of the arguments."""
    values = scope.values(node, "this", "expressions", "ignore_nulls")
    check_kinds(values, NUMBERS)
    return hull(values).interchanged()


def _lookup(node: exp.Anonymous, scope: RowScope) -> Value:
    """LIST_EXTRACT([a, b, ...], i): one of the entries of a constant list. LIST_EXTRACT(x, i):
    an element of a list that the source holds.

    Proof. A constant list is the same for all rows, and holds integers of 32 bits. Places count
    from 1. Every place that a row can have is one of the list, so the result is an entry
    between the first and the last of them. A place outside would be NULL in one engine and fail
    in another, and so one row would decide whether there is an answer. In a list of the source
    every engine is asked so that a place outside is NULL, if it is an integer of 32 bits: some
    engines would fail to make one of a larger number. A source's values may be NULL.
    """
    require(node.this == "LIST_EXTRACT", f"No rule covers the function {str(node.this)[:40]}.")
    listed, at = only(node, "this", "expressions").expressions
    place = scope.value(at)
    if isinstance(listed, exp.Column):
        values = _list_of(listed, scope)
        require(place.kind == "int" and place.bits <= 32, "A place is not a small integer.")
        element = stored(values.kind.removeprefix(_LIST))
        return element._replace(zeros=values.zeros if element.zeros else 0)
    entries = _elements(listed, scope)
    constant = all(entry.low == entry.high for entry in entries)
    require(constant, "An entry of a list is not a whole number.")
    inside = place.kind == "int" and not place.null and place.low >= 1
    require(inside and place.high <= len(entries), "No such place.")
    part = entries[int(place.low) - 1 : int(place.high)]
    return integer(min(e.low for e in part), max(e.high for e in part), 32)


def _list_of(node: Node, scope: RowScope) -> Value:
    """A list that the source holds."""
    value = scope.value(node)
    require(value.kind.startswith(_LIST), "This is not a list of the source.")
    return value


def _list_length(node: exp.ArraySize, scope: RowScope) -> Value:
    """How many elements a list of the source has, which is no more than 32 bits."""
    _list_of(only(node, "this").this, scope)
    return integer(0, (1 << 31) - 2, 32)._replace(null=True)


def _elements(node: Node, scope: RowScope) -> list[Value]:
    """The elements of a list that is written down: integers in ranges."""
    require(isinstance(node, exp.Array), "A list is not written down in the statement.")
    parts = [scope.value(part) for part in only(node, "expressions").expressions]
    require(parts and _whole(parts), "A list has elements that are not integers in a range.")
    return parts


def _whole(values: list[Value]) -> bool:
    """Whether these are integers in a range, and never NULL."""
    return all(value.kind == "int" and value.bounded and not value.null for value in values)


def spread_places(node: exp.Explode, scope: RowScope) -> tuple[Value, int]:
    """UNNEST([b, c, ...]): one row for each place of a row, and how many these are. They are
    integers whose ranges do not meet, so a row comes at most once to each."""
    require(scope.inner is None, "Groups are spread over places.")
    places = _elements(only(node, "this").this, scope)
    return places_apart(places), len(places)


def places_apart(places: list[Value]) -> Value:
    """One of the places of a row: integers whose ranges do not meet."""
    require(places and _whole(places), "A place is not an integer in a range.")
    ends = sorted((place.low, place.high) for place in places)
    apart = all(a[1] < b[0] for a, b in pairwise(ends))
    require(apart, "Two places of a row may be the same.")
    return integer(ends[0][0], ends[-1][1], max(place.bits for place in places))


def _json_text(node: exp.JSONExtractScalar, scope: RowScope) -> Value:
    """x ->> path: the text at a constant path of keys and places, or NULL. It fails on a text
    that is not JSON, so x is one by its type: TRY_CAST has made NULL of all others."""
    value, path = scope.value(only(node, "this", "expression").this), node.expression
    require(value.kind == "json", "A path is looked up in what may not be JSON.")
    parts = path.expressions[1:] if isinstance(path, exp.JSONPath) else [node]
    plain = all(type(part.this) is _STEPS.get(type(part)) for part in parts)
    require(plain, "A path has other steps than keys and places.")
    return Value("text")


def _escape(node: exp.Escape, scope: RowScope) -> Value:
    """LIKE with an escape character fails on the first row if the pattern ends with it: so both
    are constants, and the pattern does not."""
    like, mark = only(node, "this", "expression").this, text_of(node.expression) or ""
    pattern = text_of(like.expression) if isinstance(like, exp.Like | exp.ILike) else None
    require(pattern is not None and len(mark) == 1, "ESCAPE belongs to LIKE, with constants.")
    rest = (pattern or "").replace(mark * 2, "")  # pairs from the left, as the engine reads
    require(not rest.endswith(mark), "A pattern ends with its escape character.")
    return scope.value(like)


def _date_part(node: Node, scope: RowScope) -> Value:
    """Parts and differences of timestamps in the calendar, and timestamps cut to a unit."""
    only(node, "this", "expression", "unit", "date_part_boundary")
    unit = node.this if isinstance(node, exp.Extract) else node.args.get("unit")
    known = isinstance(unit, exp.Var) and unit.name.upper() in _UNITS
    require(known, "A date function has no such unit.")
    dates = [part for part in node.iter_expressions() if not isinstance(part.unnest(), exp.Var)]
    for date in map(scope.value, dates):
        inside = CALENDAR[0] <= date.low and date.high <= CALENDAR[1]
        require(date.kind == "time" and inside, "A timestamp may be out of range.")
    if isinstance(node, exp.TimestampTrunc):
        return Value("time")
    return integer(-(1 << 50), 1 << 50, 64)._replace(null=True)


def _rows_of(scope: RowScope) -> RowScope:
    return require(scope.inner, "An aggregate stands where there are no groups.")


def _extreme(node: Node, scope: RowScope) -> Value:
    """MIN or MAX: a value of one of the rows, or NULL."""
    return _rows_of(scope).value(only(node, "this").this).optional().interchanged()


def _median(node: exp.Median, scope: RowScope) -> Value:
    """MEDIAN of doubles in a range: between two of them, in whatever order the rows are."""
    value = _rows_of(scope).value(only(node, "this").this)
    require(value.kind == "double" and value.bounded, "MEDIAN of values without a range.")
    return double(value.low, value.high, value)._replace(null=True).interchanged()


def _count(node: exp.Count, scope: RowScope) -> Value:
    """COUNT(*) adds 1 for a row, and so does COUNT(x) if x is never NULL; otherwise it
    adds 1 where x is not NULL. COUNT(DISTINCT x) is not a sum over rows."""
    rows, argument = _rows_of(scope), only(node, "this", "big_int").this.unnest()
    result = integer(0, rows.rows.rows, 64)
    if isinstance(argument, exp.Distinct):
        rows.value(*only(argument, "expressions").expressions)
        return result
    if isinstance(argument, exp.Star) or not rows.value(argument).null:
        return _named(result, _ONE, scope)
    present = _ONE.present(_polynomial(argument, rows).boxes)
    return _named(result, replace(present, test=_test(argument, rows)), scope)


def _sum(node: exp.Sum, scope: RowScope) -> Value:
    """A sum of integers, in 128 bits: at most as many terms as there are rows, so that it
    cannot overflow. NULL is skipped; without any, all rows count, as in COUNT. Sums of
    doubles depend on the order, so none is allowed. SUM(DISTINCT x) is not a sum over rows.
    """
    rows, argument = _rows_of(scope), only(node, "this").this.unnest()
    once = isinstance(argument, exp.Distinct)
    (argument,) = only(argument, "expressions").expressions if once else [argument]
    value, most = rows.value(argument), rows.rows.rows
    whole = value.kind == "int" and value.bounded
    require(whole, "SUM of values that are not integers in a range.")
    result = integer(min(0, value.low) * most, max(0, value.high) * most, 128)
    if once:
        return result._replace(null=True)
    form = _polynomial(argument, rows)
    present = form.present(form.boxes) if value.null else form
    return _named(result._replace(null=True), present, scope)


def _named(value: Value, form: RowSum, scope: RowScope) -> Value:
    """An aggregate as a variable of formulas."""
    name = f"\0{len(scope.sums)}"
    scope.sums[name] = form
    return value.named(name)


def _polynomial(argument: Node, rows: RowScope) -> RowSum:
    """A row value as a polynomial of columns. Any other value is a variable of its own."""
    value = rows.value(argument)
    name = f"\0{argument.sql('duckdb')}"
    return value.polynomial or RowSum.variable(name, value.low, value.high)


def _test(argument: Node, scope: RowScope) -> Test | None:
    """CASE WHEN x >= a AND x < b THEN 1 END of integers, or CASE WHEN x = a THEN 1 END: the
    column, and the ends between which it lies."""
    parts = match(argument, "CASE WHEN x >= a AND x < b THEN 1 END")
    parts = parts or match(argument, "CASE WHEN x = a THEN 1 END")
    if not parts or not isinstance(parts["x"], exp.Column):
        return None
    (name,), text = _polynomial(parts["x"], scope).boxes, text_of(parts["a"])
    ends = {place: scope.value(part) for place, part in parts.items()}
    low, high = (ends["a"].low, ends["a"].high) if text is None else (text, text)
    if "b" not in parts:
        return (name, low, high) if low == high else None
    whole = all(end.kind == "int" for end in ends.values())
    return (name, low, ends["b"].high - 1) if whole else None


def substitute(value: Value, sums: Mapping[str, RowSum]) -> RowSum | None:
    """A formula of aggregates as one sum over rows; None if it is not a linear one.

    Proof. a * SUM(p) + b * SUM(q) is SUM(a * p + b * q) over the same rows. A single sum that
    is NULL counts as 0. If one of several were NULL, the others would vanish with it, so none
    of them may be. A constant beside the sums would be no sum over rows.
    """
    if value.null and value.polynomial is not None and len(value.polynomial.boxes) > 1:
        return None
    total, terms = RowSum({}), {} if value.polynomial is None else value.polynomial.terms
    for (presence, monomial), factor in terms.items():
        form = sums.get(monomial[0][0]) if monomial else None
        if presence or len(monomial) != 1 or monomial[0][1] != 1 or form is None:
            return None
        alone = factor == 1 and len(terms) == 1  # keeps its test
        total = form if alone else total + RowSum.constant(factor) * form
    return total if terms else None


def cut(node: Node, scope: RowScope) -> Value | None:
    """CASE WHEN c > m THEN CAST(f AS INT128) * m // c ELSE f END, with c = COUNT(*) of the same
    rows: the whole of f for up to m rows, and m rows' share of it for more.

    Proof. f is a sum over c rows. If c <= m, it is a sum over at most m rows. Otherwise f * m
    / c is m times a mean over the rows, and rounding towards zero makes nothing larger. So in
    both cases several such f, with the same c and m, are together at most m times what one row
    can add to them together; and each lies in m times the range of one row, with 0 in it.
    """
    parts = match(node, "CASE WHEN c > m THEN CAST(f AS INT128) * m // c ELSE f END")
    if not parts or not isinstance(parts["m"], exp.Literal):
        return None
    forms = [(name, value.form) for name, value in scope.rows.columns.items()]
    sums = {name: form.rows for name, form in forms if form is not None and not form.cut}
    count, m = substitute(scope.value(parts["c"]), sums), scope.value(parts["m"])
    rows = substitute(scope.value(parts["f"]), sums)
    if count != _ONE or rows is None or m.low < 1:
        return None
    reach = joint([rows]).times(m.low)
    share = node.args["ifs"][0].args["true"].unnest()
    product = scope.value(share.this)  # which cannot overflow
    bounded = integer(reach.low, reach.high, product.bits)
    return bounded._replace(null=True, form=Form(rows, m.low))


FUNCTIONS: Rules = {
    exp.Replace: _replaced,
    **dict.fromkeys(_SIGNATURES, _function),
    exp.Pow: _power,
    **dict.fromkeys((exp.Abs, exp.Round, exp.Trunc), _kept_type),
    **dict.fromkeys((exp.Least, exp.Greatest), _extremum),
    exp.Anonymous: _lookup,
    exp.ArraySize: _list_length,
    exp.Escape: _escape,
    exp.JSONExtractScalar: _json_text,
    **dict.fromkeys((exp.Extract, exp.TimestampTrunc, exp.DateDiff), _date_part),
    **dict.fromkeys((exp.Min, exp.Max), _extreme),
    exp.Median: _median,
    exp.Count: _count,
    exp.Sum: _sum,
}
