"""Aggregates over rows, and the share of a sum that is kept of a unit with too many rows.

All are exact and do not depend on the order of rows: counts, sums of integers, MIN and MAX.
"""

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from deniable.kernel.expressions import RowScope, Rules
from deniable.kernel.polynomials import RowSum, Test, joint
from deniable.kernel.reading import Node, bare, match, only, require, text_of
from deniable.kernel.values import Form, Value, integer

_ONE = RowSum.constant(1)


def _rows_of(scope: RowScope) -> RowScope:
    return require(scope.inner, "An aggregate stands where there are no groups.")


def _extreme(node: Node, scope: RowScope) -> Value:
    """MIN or MAX: a value of one of the rows, or NULL."""
    return _rows_of(scope).value(only(node, "this").this).optional().interchanged()


def _count(node: exp.Count, scope: RowScope) -> Value:
    """COUNT(*) adds 1 for a row, COUNT(x) where x is not NULL. COUNT(DISTINCT x) is not a sum
    over rows."""
    rows, argument = _rows_of(scope), bare(only(node, "this", "big_int").this)
    result = integer(0, rows.rows.rows, 64)
    if isinstance(argument, exp.Distinct):
        rows.value(*only(argument, "expressions").expressions)
        return result
    if isinstance(argument, exp.Star):
        return _named(result, _ONE, scope)
    present = _ONE.present(_polynomial(argument, rows).boxes)
    return _named(result, replace(present, test=_test(argument, rows)), scope)


def _sum(node: exp.Sum, scope: RowScope) -> Value:
    """A sum of integers, in 128 bits: at most as many terms as there are rows, so that it
    cannot overflow. NULL is skipped. Sums of doubles depend on the order, so none is allowed.
    """
    rows, argument = _rows_of(scope), bare(only(node, "this").this)
    value, most = rows.value(argument), rows.rows.rows
    whole = value.kind == "int" and value.bounded
    require(whole, "SUM of values that are not integers in a range.")
    result = integer(min(0, value.low) * most, max(0, value.high) * most, 128)
    form = _polynomial(argument, rows)
    return _named(replace(result, null=True), form.present(form.boxes), scope)


def _named(value: Value, form: RowSum, scope: RowScope) -> Value:
    """An aggregate as a variable of formulas."""
    name = f"\0{len(scope.sums)}"
    scope.sums[name] = form
    return value.renamed(name)


def _polynomial(argument: Node, rows: RowScope) -> RowSum:
    """A row value as a polynomial of columns. If it is none, it is a variable of its own."""
    value = rows.value(argument)
    name = f"\0{argument.sql('duckdb')}"
    return value.polynomial or RowSum.variable(name, value.low, value.high)


def _test(argument: Node, scope: RowScope) -> Test | None:
    """CASE WHEN x >= a AND x < b THEN 1 END of integers, or CASE WHEN x = a THEN 1 END: the
    column, and the ends between which it lies."""
    found = match(argument, "CASE WHEN x >= a AND x < b THEN 1 END")
    found = found or match(argument, "CASE WHEN x = a THEN 1 END")
    if not found or not isinstance(found["x"], exp.Column):
        return None
    (name,), text = _polynomial(found["x"], scope).boxes, text_of(found["a"])
    ends = {place: scope.value(part) for place, part in found.items()}
    low, high = (ends["a"].low, ends["a"].high) if text is None else (text, text)
    if "b" not in found:
        return (name, low, high) if low == high else None
    whole = all(end.kind == "int" for end in ends.values())
    return (name, low, ends["b"].high - 1) if whole else None


def substitute(value: Value, sums: Mapping[str, RowSum]) -> RowSum | None:
    """A formula of aggregates as one sum over rows; None if it is not a linear one.

    Proof. a * SUM(p) + b * SUM(q) is SUM(a * p + b * q) over the same rows, where NULL counts
    as 0. A constant beside the sums would be no sum over rows.
    """
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
    found = match(node, "CASE WHEN c > m THEN CAST(f AS INT128) * m // c ELSE f END")
    if not found or not isinstance(found["m"], exp.Literal):
        return None
    forms = {name: value.form for name, value in scope.rows.columns.items() if value.form}
    count, m = scope.value(found["c"]).form, scope.value(found["m"])
    if count is None or count.rows != _ONE or count.cut or m.low < 1:
        return None
    same = {n: f.rows for n, f in forms.items() if (f.group, f.cut) == (count.group, 0)}
    rows = substitute(scope.value(found["f"]), same)
    if rows is None:
        return None
    reach = joint([rows]).times(m.low)
    product = scope.value(bare(node.args["ifs"][0].args["true"]).this)  # which cannot overflow
    bounded = integer(reach.low, reach.high, product.bits)
    return replace(bounded, null=True, form=Form(count.group, rows, m.low))


AGGREGATES: Rules = {
    **dict.fromkeys((exp.Min, exp.Max), _extreme),
    exp.Count: _count,
    exp.Sum: _sum,
}
