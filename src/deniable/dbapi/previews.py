"""What a statement without a price gets: an explanation, line by line. Nothing is spent."""

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.errors import DeniableError, InvalidQuery, Unsupported

if TYPE_CHECKING:
    from deniable.release.public_session import Session

_TRIAL_EPSILON = Fraction(1, 10)
_HOW = (
    "This statement has no price, so nothing was asked and nothing was spent.",
    "End it with EPSILON 0.5 (what it may cost) or WITHIN 50 (how exact it should be).",
)


def explain_preview(session: "Session", question: str) -> list[str]:
    """How to ask, and what this question would give; for anything else, what can be asked.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1] * 100}), epsilon=1)
    >>> explain_preview(data, "SELECT * FROM data LIMIT 100")[-1]
    'data: x'
    """
    try:
        tree = session.explain(question, epsilon=_TRIAL_EPSILON)
    except (InvalidQuery, Unsupported) as problem:
        return [*_HOW, *_lines(problem), *_list_tables(session)]
    return [*_HOW, *str(tree).splitlines()]


def _lines(problem: DeniableError) -> list[str]:
    return [line for line in str(problem).splitlines() if line.strip()]


def _list_tables(session: "Session") -> list[str]:
    return [
        f"{name}: {', '.join(table.columns)}" for name, table in session.policy.tables.items()
    ]
