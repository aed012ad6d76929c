"""How large the numbers are that an expression over released rows computes in between.

Doubles have 53 bits. `(n + 1e18) - 1e18` loses the last digits of n, and no noise explains that
error. Let S be the value that an expression has if nothing in it cancels: every part counts
with its size. By induction over the expression, each operation adds at most 2**-53 of S to the
error, relative to what its parts have: for a product both S are multiplied, for a quotient
a / b its S is S(a) S(b) / b**2, and a function is multiplied by how much it enlarges a relative
error.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp

from deniable.query.outer.noise_dependence import DependenceReader, Kind, NoiseDependence

SIZE = "__size"  # what the names of their columns end with
_STEP = 2.0**-52
_SAME = (exp.Paren, exp.Neg, exp.Cast, exp.TryCast, exp.Round, exp.Floor, exp.Ceil, exp.Trunc)
_FIRST = (exp.Nullif, exp.Sum, exp.Avg, exp.Filter, exp.IgnoreNulls, exp.RespectNulls)
_MOVED = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
_ADDED = (exp.Add, exp.Sub, exp.Sum, exp.Avg)
_PASSING = (exp.Paren, exp.Neg, exp.Sum, exp.Avg, exp.IgnoreNulls, exp.RespectNulls)


def may_cancel(node: exp.Expr, reader: DependenceReader) -> bool:
    """Whether an expression adds anything but released numbers as they are: their own sizes are
    far below 2**53 margins, but public numbers and multiples may be of any size.

    >>> import sqlglot
    >>> n = NoiseDependence(Kind.AFFINE, frozenset({("t", "n")}))
    >>> reader = DependenceReader({("t", "n"): n}, lambda sub: n, shaky=False)
    >>> texts = "t.n - SUM(t.n) OVER ()", "100 * t.n", "t.n + 1e18"
    >>> [may_cancel(sqlglot.parse_one(text), reader) for text in texts]
    [False, False, True]
    """
    columns = [reader.read(column) for column in node.find_all(exp.Column)]
    if any(column.size_column is not None for column in columns):
        return True
    for addition in node.find_all(*_ADDED):
        noisy = reader.read(addition).kind != Kind.PUBLIC
        if noisy and not all(_is_plain(side, reader) for side in addition.iter_expressions()):
            return True
    return False


def _is_plain(node: exp.Expr, reader: DependenceReader) -> bool:
    """Whether an expression adds up or picks released numbers as they are."""
    if isinstance(node, exp.Column):
        return reader.read(node).kind != Kind.PUBLIC
    if isinstance(node, exp.Add | exp.Sub):
        return all(_is_plain(side, reader) for side in (node.this, node.expression))
    if isinstance(node, _MOVED) and node.args.get("default") is not None:
        return False
    through = isinstance(node, (*_PASSING, *_MOVED, exp.Window))
    return through and _is_plain(node.this, reader)


def float_size(node: exp.Expr, reader: DependenceReader) -> exp.Expr | None:
    """SQL for S; None if there is no rule.

    >>> import sqlglot
    >>> n = NoiseDependence(Kind.AFFINE, frozenset({("t", "n")}))
    >>> reader = DependenceReader({("t", "n"): n}, lambda sub: n, shaky=False)
    >>> float_size(sqlglot.parse_one("(t.n + 1e18) - 1e18"), reader).sql()
    '(ABS(CAST(t.n AS DOUBLE)) + ABS(CAST(1e18 AS DOUBLE))) + ABS(CAST(1e18 AS DOUBLE))'
    """
    if isinstance(node, exp.Column):
        name = reader.read(node).size_column
        if name is not None:
            return exp.column(name, table=node.args["table"].copy(), quoted=True)
    if isinstance(node, exp.Column) or reader.read(node).kind == Kind.PUBLIC:
        return exp.Abs(this=exp.cast(node.copy(), "double"))
    if isinstance(node, exp.Paren):
        inner = float_size(node.this, reader)
        return inner and exp.Paren(this=inner)
    if isinstance(node, _SAME):
        return float_size(node.this, reader)
    if isinstance(node, (*_FIRST, *_MOVED)) and node.this is not None:
        return _of_first(node, reader)
    if isinstance(node, exp.Window):
        return _with_parts(node, {"this": node.this}, reader)
    if isinstance(node, exp.Coalesce):
        parts = [float_size(part, reader) for part in node.iter_expressions()]
        first, *rest = parts
        if first is None or None in rest:
            return None
        return exp.Coalesce(this=first, expressions=rest)
    if isinstance(node, exp.Case):
        return _of_case(node, reader)
    return _of_operation(node, reader)


def _of_first(node: exp.Expr, reader: DependenceReader) -> exp.Expr | None:
    """Of a function that adds, or picks, values of its first argument. NULLIF has its size."""
    if isinstance(node, exp.Nullif):
        return float_size(node.this, reader)
    default = {"default": node.args["default"]} if node.args.get("default") else {}
    return _with_parts(node, {"this": node.this, **default}, reader)


def _with_parts(
    node: exp.Expr, parts: Mapping[str, exp.Expr], reader: DependenceReader
) -> exp.Expr | None:
    """The node with sizes in the place of some of its parts."""
    copy = node.copy()
    for name, part in parts.items():
        size = float_size(part, reader)
        if size is None:
            return None
        copy.set(name, size)
    return copy


def _of_case(node: exp.Case, reader: DependenceReader) -> exp.Expr | None:
    copy = node.copy()
    branches = [(branch, "true") for branch in copy.args["ifs"]]
    branches += [(copy, "default")] if copy.args.get("default") is not None else []
    for branch, name in branches:
        size = float_size(branch.args[name], reader)
        if size is None:
            return None
        branch.set(name, size)
    return copy


def _of_operation(node: exp.Expr, reader: DependenceReader) -> exp.Expr | None:
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Pow):
        a, b = float_size(node.this, reader), float_size(node.expression, reader)
        if a is None or b is None:
            return None
        if isinstance(node, exp.Add | exp.Sub):
            return exp.Add(this=a, expression=b)
        if isinstance(node, exp.Mul):
            return _times(a, b)
        if isinstance(node, exp.Div):
            return _times(_over(a, node.expression), _over(b, node.expression))
        public = reader.read(node.expression).kind == Kind.PUBLIC
        return _times(_size(node), _more(_times(b, _over(a, node.this)))) if public else None
    rule = _FUNCTIONS.get(type(node))
    inner = None if rule is None else float_size(node.this, reader)
    return rule(node, inner) if rule is not None and inner is not None else None


def _size(node: exp.Expr) -> exp.Expr:
    return exp.Abs(this=exp.cast(node.copy(), "double"))


def _times(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return exp.Mul(this=exp.Paren(this=a), expression=exp.Paren(this=b))


def _over(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return exp.Div(this=exp.Paren(this=a), expression=_size(b))


def _more(a: exp.Expr) -> exp.Expr:
    return exp.Add(this=exp.Literal.number(1), expression=a)


_FUNCTIONS: Mapping[type[exp.Expr], Callable[[exp.Expr, exp.Expr], exp.Expr]] = {
    exp.Ln: lambda node, inner: exp.Add(this=_size(node), expression=_over(inner, node.this)),
    exp.Sqrt: lambda node, inner: _times(_size(node), _more(_over(inner, node.this))),
    exp.Exp: lambda node, inner: _times(_size(node), _more(inner)),
    exp.Abs: lambda _, inner: inner,
}


def hand_on_sizes(
    node: exp.Select,
    dependences: Mapping[str, NoiseDependence],
    reader: DependenceReader,
    *,
    possible: bool,
) -> dict[str, NoiseDependence]:
    """Adds the sizes of what may cancel to the columns of a SELECT, where that is `possible`.

    What may cancel and has no size has no margin.
    """
    handed_on = dict(dependences)
    for output in list(node.expressions):
        name, own = output.alias_or_name, output.unalias()
        if handed_on[name].kind not in (Kind.AFFINE, Kind.SMOOTH) or not may_cancel(
            own, reader
        ):
            continue
        size = float_size(own, reader) if possible else None
        if size is None:
            handed_on[name] = handed_on[name].at_least(Kind.JUMPS)
        else:
            node.append("expressions", exp.alias_(size, f"{name}{SIZE}", quoted=True))
            handed_on[name] = replace(handed_on[name], size_column=f"{name}{SIZE}")
    return handed_on


def count_operations(tree: exp.Expr) -> int:
    """How many operations an expression has, each of which may round."""
    return sum(1 for _ in tree.find_all(exp.Binary, exp.Func))


def rounding_errors(operations: int) -> float:
    """How far rounding may have moved a number, in multiples of S: its value, the one that it
    is compared with, and what was drawn."""
    return 4 * operations * _STEP
