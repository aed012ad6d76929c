"""EXCEPT and INTERSECT of several columns: groups of equal rows, and which side has some.

NULLs are equal there, as they are in GROUP BY. The unit must be among the columns, as for all
groups inside FROM.
"""

from fractions import Fraction

from deniable.errors import InvalidQuery
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Derived,
    Expression,
    Literal,
    Named,
    Selection,
    Star,
    UnionAll,
)

_SIDES = ("(left)", "(right)")  # columns that say from which side a row comes


def compare_rows(
    sides: tuple[Selection | UnionAll, Selection | UnionAll], *, both: bool
) -> Selection | None:
    """The rows of the first side that the second one has, or has not; None if the names of the
    columns are not written down."""
    names = [
        output.name
        for output in (sides[0].outputs if isinstance(sides[0], Selection) else ())
        if isinstance(output, Named)
    ]
    _check_widths([side.outputs for side in sides if isinstance(side, Selection)], both)
    written = isinstance(sides[0], Selection) and len(names) == len(sides[0].outputs)
    if not written or len({name.lower() for name in names}) < len(names) or not names:
        return None
    parts = tuple(
        Selection(
            Derived(side, "compared"),
            (Star(), *(Named(name, _number(own == place)) for own, name in enumerate(_SIDES))),
        )
        for place, side in enumerate(sides)
    )
    sides_present = (_has(_SIDES[0], True), _has(_SIDES[1], both))
    columns = tuple(Named(name, ColumnRef(name)) for name in names)
    rows = Derived(UnionAll(parts), "compared")
    return Selection(rows, columns, keys=columns, having=Call("and", sides_present))


def _check_widths(sides: list[tuple[Named | Star, ...]], both: bool) -> None:
    """Refuses sides with different numbers of columns, if both are written down."""
    widths = [len(side) for side in sides if all(isinstance(each, Named) for each in side)]
    if len(set(widths)) > 1:
        raise InvalidQuery(
            f"Both sides of {'INTERSECT' if both else 'EXCEPT'} need the same number of "
            f"columns. Found {widths[0]} and {widths[1]}."
        )


def _has(side: str, yes: bool) -> Expression:
    return Call("=", (Aggregate("max", ColumnRef(side)), _number(yes)))


def _number(yes: bool) -> Literal:
    return Literal(Fraction(int(yes)))
