"""The number of the first test that holds for a row, as a small integer.

Tests at cuts, x < 10, x < 20, ..., x >= 20, are searched as a tree: CASE would try them one by
one, and most rows would need half of them. Either way it is the same number, also for NULL.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from sqlglot import exp

from deniable.query.language.syntax_tree import Call, Expression, Literal, Value
from deniable.query.relations.sql_nodes import Sql, case, number

_BRANCHES = 6  # of a CASE in the tree: each level copies its rows once


def number_of_test(
    tests: Sequence[Expression], write: Callable[[Expression], Sql], *, total: bool
) -> Sql:
    """The number of the first test that holds. Where none does, it is how many there are if
    `total`, and else NULL."""
    written = [write(test) for test in tests]
    numbers = [number(place) for place in range(len(tests))]
    others = [number(len(tests))] if total else []
    if not are_cuts(tests):
        parts = [part for pair in zip(written, numbers, strict=True) for part in pair]
        return case(*parts, *others)
    return _search(written[:-1], 0, case(written[-1], numbers[-1], *others))


def _search(below: Sequence[Sql], first: int, above: Sql) -> Sql:
    """The number of the first of these tests that holds, counted from `first`, or `above`.
    Where one of them holds, those after it do."""
    if not below:
        return above
    parts = min(_BRANCHES, len(below) + 1)
    ends = [(len(below) + 1) * part // parts - 1 for part in range(1, parts)]
    tree, start = exp.Case(), 0
    for end in ends:
        inside = _search(below[start:end], first + start, number(first + end))
        tree = tree.when(below[end], inside, copy=False)
        start = end + 1
    return tree.else_(_search(below[start:], first + start, above), copy=False)


def are_cuts(tests: Sequence[Expression]) -> bool:
    """Whether the tests are x < a, x < b, ..., x < z, x >= z with increasing constants.

    >>> from deniable.query.language.syntax_tree import ColumnRef
    >>> x, cuts = ColumnRef("x"), [Literal(1), Literal(2)]
    >>> below = [Call("<", (x, cut)) for cut in cuts]
    >>> are_cuts([*below, Call(">=", (x, cuts[1]))]), are_cuts([*below, below[0]])
    (True, False)
    """
    calls = [test for test in tests if isinstance(test, Call) and len(test.arguments) == 2]
    names = ["<"] * (len(tests) - 1) + [">="]
    if len(calls) < 2 or [call.name for call in calls] != names:
        return False
    ends = [_constant(call.arguments[1]) for call in calls]
    known = [end for end in ends if end is not None and not isinstance(end, bool)]
    one_kind = len({isinstance(end, str) for end in known}) == 1 and len(known) == len(ends)
    same = all(call.arguments[0] == calls[0].arguments[0] for call in calls)
    rising = one_kind and all(a < b for a, b in pairwise(known[:-1]))  # type: ignore[operator]
    return same and rising and known[-2] == known[-1]


def _constant(expression: Expression) -> Value:
    """The number, or the date as text, that an expression is; None for others."""
    if isinstance(expression, Call) and expression.name == "cast date":
        (inner,) = expression.arguments
        return inner.value if isinstance(inner, Literal) else None
    number = isinstance(expression, Literal) and not isinstance(expression.value, str)
    return expression.value if number and isinstance(expression, Literal) else None
