"""Margins of numbers that are one released number, times public numbers, plus public numbers.

The margin of `100 * n - 3` is 100 times that of n. So no noise is drawn for it.
"""

from sqlglot import exp

from deniable.query.outer.noise_dependence import DependenceReader, Kind
from deniable.query.outer.rounded_numbers import REAL_TYPES, remove_rounding


def scale_margin(
    node: exp.Expr, reader: DependenceReader, *, chosen: bool
) -> tuple[exp.Expr, float] | None:
    """SQL for the margin of an expression and what rounding adds to it, or None.

    If noise has `chosen` the rows, margins must hold for all rows together. Released margins
    of numbers that are not affine do not, so their multiples are left to the draws.

    >>> import sqlglot
    >>> from deniable.query.outer.noise_dependence import NoiseDependence
    >>> n = NoiseDependence(Kind.AFFINE, frozenset({("t", "n")}), "n__margin")
    >>> reader = DependenceReader({("t", "n"): n}, lambda sub: n, shaky=False)
    >>> half, most = scale_margin(
    ...     sqlglot.parse_one("ROUND(3 - t.n / 4, 1)"), reader, chosen=False
    ... )
    >>> half.sql(), most
    ('t."n__margin" / ABS(4)', 0.1)
    """
    value, rounding = remove_rounding(node)
    dependence = reader.read(value)
    if dependence.kind == Kind.PUBLIC or reader.shaky:
        return None
    if chosen and dependence.kind != Kind.AFFINE and not isinstance(value, exp.Column):
        return None
    half = _margin(value, reader)
    return None if half is None else (half, rounding)


def _margin(node: exp.Expr, reader: DependenceReader) -> exp.Expr | None:
    dependence = reader.read(node)
    if dependence.kind == Kind.PUBLIC:
        return exp.Literal.number(0)
    if isinstance(node, exp.Column):
        if dependence.own_margin is None or dependence.rounding:
            return None
        return exp.column(dependence.own_margin, table=node.args["table"].copy(), quoted=True)
    if isinstance(node, exp.Paren | exp.Neg):
        return _margin(node.this, reader)
    if isinstance(node, exp.Cast | exp.TryCast) and node.to.this.name in REAL_TYPES[:2]:
        return _margin(node.this, reader)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return _of_two(node, reader)
    if isinstance(node, exp.Case):
        return _of_case(node, reader)
    return None


def _of_two(node: exp.Binary, reader: DependenceReader) -> exp.Expr | None:
    left_is_public, right_is_public = (
        reader.read(side).kind == Kind.PUBLIC for side in (node.this, node.expression)
    )
    public, other = (
        (node.this, node.expression) if left_is_public else (node.expression, node.this)
    )
    if not (left_is_public or right_is_public):
        return None
    half = _margin(other, reader)
    if half is None or isinstance(node, exp.Add | exp.Sub):
        return half
    if isinstance(node, exp.Div) and left_is_public:
        return None
    return type(node)(this=half, expression=exp.Abs(this=public.copy()))


def _of_case(node: exp.Case, reader: DependenceReader) -> exp.Expr | None:
    """The margin of the branch that is taken, if keys decide which one it is."""
    tests = [branch.this for branch in node.args["ifs"]]
    tests += [node.this] if node.this is not None else []
    if any(reader.read(test).kind != Kind.PUBLIC for test in tests):
        return None
    case = node.copy()
    branches = [(branch, "true") for branch in case.args["ifs"]]
    branches += [(case, "default")] if case.args.get("default") is not None else []
    for branch, name in branches:
        half = _margin(branch.args[name], reader)
        if half is None:
            return None
        branch.set(name, half)
    return case
