"""Values that a SELECT says more than once, made into columns first.

Some words say their argument many times over (a rounding asks on which side of a half it lies),
so that nested ones would grow beyond what a backend likes to read. All our values are total:
one may be made for every row, also where a CASE would not have asked for it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from sqlglot import exp

# What says its argument several times, as these files write it.
_REPEATING = (exp.Round, exp.Floor, exp.Ceil, exp.Trunc, exp.Sign, exp.DateDiff)
_INTEGER_TYPES = ("INT", "BIGINT", "SMALLINT")


def find_repeated(values: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The innermost parts of values that are said more than once.

    >>> import sqlglot
    >>> one = sqlglot.parse_one("CASE WHEN a + 1 > 5 THEN 5 ELSE a + 1 END", dialect="duckdb")
    >>> [part.sql() for part in find_repeated([one])]
    ['a + 1']
    """
    times: Counter[exp.Expr] = Counter()
    for value in values:
        for one in _parts(value):
            times[one] += 2 if _repeats_its_argument(one.parent) else 1
    many = {one for one, count in times.items() if count > 1}
    return [
        one for one in many if not any(part in many for part in _parts(one) if part is not one)
    ]


def _parts(value: exp.Expr) -> Iterator[exp.Expr]:
    """What a value is made of, but for columns, constants and what is no value."""
    for one in value.walk():
        if isinstance(one, exp.Func | exp.Binary | exp.Unary | exp.Case) and _is_computed(one):
            yield one


def _is_computed(node: exp.Expr) -> bool:
    """Whether a node is reckoned from a column, and is no wide integer already split."""
    if isinstance(node, exp.If | exp.Paren | exp.Anonymous):
        return False
    wide = any(one.args["to"].this.name == "INT128" for one in node.find_all(exp.Cast))
    return node.find(exp.Column) is not None and not wide


def _repeats_its_argument(node: exp.Expr | None) -> bool:
    while isinstance(node, exp.Paren):
        node = node.parent
    if isinstance(node, exp.Cast):
        return node.args["to"].this.name in _INTEGER_TYPES
    return isinstance(node, _REPEATING)
