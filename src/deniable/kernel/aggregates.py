"""Aggregates over rows, and the share of a sum that is kept of a unit with too many rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.expressions import RowScope, text_of
from deniable.kernel.facts import folded
from deniable.kernel.polynomials import RowSum, Test, joint
from deniable.kernel.reading import Node, bare, no_rule, only, operands
from deniable.kernel.values import Form, Value, integer

_ONE = RowSum.constant(1)


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
            result, form = self._count(bare(only(node, "this", "big_int").this))
        elif isinstance(node, exp.Sum):
            result, form = self._sum(bare(only(node, "this").this))
        else:
            raise no_rule(node)
        if form is None:
            return result
        name = f"\0{len(self.forms)}"
        self.forms[name] = form
        return result.renamed(name)

    def _count(self, argument: Node) -> tuple[Value, RowSum | None]:
        """COUNT(*) adds 1 for a row, COUNT(x) where x is not NULL. COUNT(DISTINCT x) is not a
        sum over rows."""
        result, form = integer(0, self.rows, 64), _ONE
        if isinstance(argument, exp.Distinct):
            (inner,) = only(argument, "expressions").expressions
            self.inner.value(inner)
            return result, None
        if not isinstance(argument, exp.Star):
            form = replace(self._present(argument, _ONE), test=_test(argument, self.inner))
        return result, form

    def _sum(self, argument: Node) -> tuple[Value, RowSum]:
        """A sum of integers, in 128 bits: at most as many terms as there are rows, so that it
        cannot overflow. NULL is skipped. Sums of doubles depend on the order, so none is
        allowed."""
        value = self.inner.value(argument)
        if value.kind != "int" or not value.bounded:
            raise PlanRefused("SUM of values that are not integers in a range.")
        low, high = min(0, value.low) * self.rows, max(0, value.high) * self.rows
        return replace(integer(low, high, 128), null=True), self._present(argument)

    def _present(self, argument: Node, form: RowSum | None = None) -> RowSum:
        """A row value, or the argument itself, where the argument is not NULL. What is no
        polynomial of columns is a variable of its own."""
        value = self.inner.value(argument)
        own = value.polynomial
        if own is None:
            own = RowSum.variable(f"\0{argument.sql('duckdb')}", value.low, value.high)
        return (form or own).present(own.boxes)


def _test(argument: Node, scope: RowScope) -> Test | None:
    """CASE WHEN x >= a AND x < b THEN 1 END of integers, or CASE WHEN x = a THEN 1 END: the
    column, and the ends between which it lies."""
    if not isinstance(argument, exp.Case) or argument.this or argument.args.get("default"):
        return None
    branch, *others = argument.args["ifs"]
    tests = operands(branch.this, exp.And)
    subject, ends = bare(tests[0].this), [scope.value(test.expression) for test in tests]
    if others or scope.value(branch.args["true"]).null or not isinstance(subject, exp.Column):
        return None
    column, kinds = scope.value(subject), [type(test) for test in tests]
    name = min(column.polynomial.boxes) if column.polynomial else ""
    if kinds == [exp.EQ]:
        text = text_of(bare(tests[0].expression))
        low, high = (ends[0].low, ends[0].high) if text is None else (text, text)
        return (name, low, high) if low == high else None
    whole = column.kind == "int" and all(end.kind == "int" for end in ends)
    if kinds == [exp.GTE, exp.LT] and whole and bare(tests[1].this) == subject:
        return name, ends[0].low, ends[1].high - 1
    return None


def substitute(value: Value, forms: Mapping[str, RowSum]) -> RowSum | None:
    """A formula of aggregates as one sum over rows; None if it is not a linear one.

    Proof. a * SUM(p) + b * SUM(q) is SUM(a * p + b * q) over the same rows, where NULL counts
    as 0. A constant beside the sums would be no sum over rows.
    """
    total, terms = RowSum({}), {} if value.polynomial is None else value.polynomial.terms
    for (presence, monomial), factor in terms.items():
        form = forms.get(monomial[0][0]) if monomial else None
        if presence or len(monomial) != 1 or monomial[0][1] != 1 or form is None:
            return None
        alone = factor == 1 and len(terms) == 1  # keeps its test
        total = form if alone else total + RowSum.constant(factor) * form
    return total if terms else None


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
    c, m, whole = bare(share.expression), bare(product.expression), product.this.this
    if not isinstance(test, exp.GT) or not isinstance(c, exp.Column) or whole != rest:
        return None
    if (bare(test.this), bare(test.expression)) != (c, m) or not isinstance(m, exp.Literal):
        return None
    scope.boolean(test)
    count, most, fits = forms.get(folded(c.name)), scope.value(m).low, scope.value(product)
    if count is None or count.rows != _ONE or count.cut or most < 1:
        return None
    own = [
        (name, one.rows)
        for name, one in forms.items()
        if one.group == count.group and not one.cut
    ]
    rows = substitute(scope.value(whole), dict(own))
    if rows is None:
        return None
    reach = joint([rows]).times(most)  # and the product fits its type
    bounded = replace(integer(reach.low, reach.high, fits.bits), null=True)
    return replace(bounded, form=Form(count.group, rows, most))
