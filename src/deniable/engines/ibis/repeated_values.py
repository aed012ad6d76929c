"""Values that a SELECT repeats, so that they can be computed once, as columns.

Some functions repeat their argument (rounding compares it with a half), so nested ones would
grow too large for a backend. All our values are total: a value can be computed for every row,
even if a CASE would not use it there.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from sqlglot import exp

# Functions that repeat their argument, as we write them.
_REPEATING = (exp.Round, exp.Floor, exp.Ceil, exp.Trunc, exp.Sign, exp.DateDiff)
_INTEGER_TYPES = ("INT", "BIGINT", "SMALLINT")


def find_repeated(values: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The innermost parts of values that occur more than once.

    >>> import sqlglot
    >>> value = sqlglot.parse_one("CASE WHEN a + 1 > 5 THEN 5 ELSE a + 1 END", dialect="duckdb")
    >>> [part.sql() for part in find_repeated([value])]
    ['a + 1']
    """
    times: Counter[exp.Expr] = Counter()
    for value in values:
        for part in _parts(value):
            times[part] += 2 if _repeats_its_argument(part.parent) else 1
    repeated = {part for part, count in times.items() if count > 1}
    return [
        part
        for part in repeated
        if not any(inner in repeated for inner in _parts(part) if inner is not part)
    ]


def _parts(value: exp.Expr) -> Iterator[exp.Expr]:
    """The computed parts of a value, without columns and constants."""
    for node in value.walk():
        if isinstance(node, exp.Func | exp.Binary | exp.Unary | exp.Case) and _is_computed(
            node
        ):
            yield node


def _is_computed(node: exp.Expr) -> bool:
    """Whether a node is computed from a column, and is not a wide integer."""
    if isinstance(node, exp.If | exp.Paren | exp.Anonymous):
        return False
    wide = any(cast.args["to"].this.name == "INT128" for cast in node.find_all(exp.Cast))
    return node.find(exp.Column) is not None and not wide


def _repeats_its_argument(node: exp.Expr | None) -> bool:
    while isinstance(node, exp.Paren):
        node = node.parent
    if isinstance(node, exp.Cast):
        return node.args["to"].this.name in _INTEGER_TYPES
    return isinstance(node, _REPEATING)
