"""Aggregates over rows, and the share of a sum that is kept of a unit with too many rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.expressions import RowScope
from deniable.kernel.facts import folded
from deniable.kernel.polynomials import RowSum, Test, joint
from deniable.kernel.reading import Node, bare, conjuncts, no_rule, only
from deniable.kernel.values import Form, Value, integer


@dataclass(frozen=True, slots=True)
class Aggregates:
    """The aggregates of one SELECT over at most `rows` rows.

    All are exact and do not depend on the order of rows: counts, sums of integers, MIN and MAX.
    """

    inner: RowScope  # of a row
    rows: int
    group: int
    forms: dict[str, RowSum]

    def value(self, node: Node) -> Value:
        """One aggregate, as a variable of formulas."""
        if isinstance(node, exp.Min | exp.Max):
            return self.inner.value(only(node, "this").this).optional().interchanged()
        if isinstance(node, exp.Count):
            form = self._count(bare(only(node, "this", "big_int").this))
            result = replace(integer(0, self.rows, 64), null=False)
        elif isinstance(node, exp.Sum):
            result, form = self._sum(only(node, "this").this)
        else:
            raise no_rule(node)
        if form is None:
            return result
        name = f"\0{len(self.forms)}"
        self.forms[name] = form
        return replace(result, polynomial=RowSum.variable(name, result.low, result.high))

    def _count(self, argument: Node) -> RowSum | None:
        """COUNT(*) adds 1 for a row, COUNT(x) where x is not NULL. COUNT(DISTINCT x) is not a
        sum over rows."""
        if isinstance(argument, exp.Star):
            return RowSum.constant(1)
        if isinstance(argument, exp.Distinct):
            (inner,) = only(argument, "expressions").expressions
            self.inner.value(inner)
            return None
        names = self.inner.value(argument).names
        if not isinstance(argument, exp.Column):
            names = frozenset([f"\0{argument.sql('duckdb')}"])
        return replace(RowSum.constant(1).present(names), test=_test(argument, self.inner))

    def _sum(self, argument: Node) -> tuple[Value, RowSum]:
        """A sum of integers, in 128 bits: at most as many terms as there are rows, so that it
        cannot overflow. NULL is skipped. Sums of doubles depend on the order, so none is
        allowed."""
        value = self.inner.value(argument)
        if value.kind != "int" or not value.bounded:
            raise PlanRefused("SUM of values that are not integers in a range.")
        form, names = value.polynomial, value.names
        if form is None:
            names = frozenset([f"\0{bare(argument).sql('duckdb')}"])
            form = RowSum.variable(min(names), value.low, value.high)
        low, high = min(0, value.low) * self.rows, max(0, value.high) * self.rows
        return integer(low, high, 128), form.present(names)


def _test(argument: Node, scope: RowScope) -> Test | None:
    """CASE WHEN x >= a AND x < b THEN 1 END of integers, or CASE WHEN x = a THEN 1 END: the
    column, and the ends between which it lies."""
    if not isinstance(argument, exp.Case) or argument.this or argument.args.get("default"):
        return None
    branch, *others = argument.args["ifs"]
    tests = conjuncts(branch.this)
    subject, ends = bare(tests[0].this), [scope.value(test.expression) for test in tests]
    if others or scope.value(branch.args["true"]).null or not isinstance(subject, exp.Column):
        return None
    column, kinds = scope.value(subject), [type(test) for test in tests]
    if kinds == [exp.EQ]:
        texts = ends[0].constant, ends[0].constant
        low, high = (ends[0].low, ends[0].high) if ends[0].constant is None else texts
        return (min(column.names), low, high) if low == high else None
    whole = column.kind == "int" and all(end.kind == "int" for end in ends)
    if kinds == [exp.GTE, exp.LT] and whole and bare(tests[1].this) == subject:
        return min(column.names), ends[0].low, ends[1].high - 1
    return None


def substitute(value: Value, forms: Mapping[str, RowSum]) -> RowSum | None:
    """A formula of aggregates as one sum over rows; None if it is not a linear one.

    Proof. a * SUM(p) + b * SUM(q) is SUM(a * p + b * q) over the same rows, where NULL counts
    as 0. A constant beside the sums would be no sum over rows.
    """
    if value.polynomial is None or not value.polynomial.terms:
        return None
    total = RowSum({})
    for (presence, monomial), factor in value.polynomial.terms.items():
        form = forms.get(monomial[0][0]) if monomial else None
        if presence or len(monomial) != 1 or monomial[0][1] != 1 or form is None:
            return None
        total = form if factor == 1 and not total.terms else total.plus(form, factor)
    return total


def cut(node: Node, scope: RowScope, forms: Mapping[str, Form]) -> Value | None:
    """CASE WHEN c > m THEN CAST(F AS INT128) * m // c ELSE F END, with c = COUNT(*) of the same
    rows: the whole of F for up to m rows, and m rows' share of it for more.

    Proof. F is a sum over c rows. If c <= m, it is a sum over at most m rows. Otherwise F * m
    / c is m times a mean over the rows, and rounding towards zero makes nothing larger. So in
    both cases several such F, with the same c and m, are together at most m times what one row
    can add to them together; and each lies in m times the range of one row, with 0 in it.
    """
    if not isinstance(node, exp.Case) or node.this or len(node.args["ifs"]) != 1:
        return None
    (branch,), rest = node.args["ifs"], node.args.get("default")
    test, share = bare(branch.this), bare(branch.args["true"])
    product = bare(share.this) if isinstance(share, exp.IntDiv) else share
    if not isinstance(product, exp.Mul) or not isinstance(product.this, exp.Cast):
        return None
    c, most, whole = bare(share.expression), bare(product.expression), product.this.this
    if not isinstance(test, exp.GT) or (bare(test.this), bare(test.expression)) != (c, most):
        return None
    if not isinstance(most, exp.Literal) or int(most.this) < 1 or whole != rest:
        return None
    count = forms.get(folded(c.name)) if isinstance(c, exp.Column) else None
    if count is None or count.rows != RowSum.constant(1) or count.cut:
        return None
    value, limit = scope.value(product), int(most.this)  # the product cannot overflow
    own = {name: one.rows for name, one in forms.items() if one.group == count.group}
    rows = substitute(scope.value(whole), own)
    if rows is None or any(one.cut for one in forms.values()):
        return None
    reach = joint([rows]).times(limit)
    bounded = replace(integer(reach.low, reach.high, value.bits), null=True)
    return replace(bounded, form=Form(count.group, rows, limit))
