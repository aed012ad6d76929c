"""What the owner of a frame is told about its types. No warning quotes a value."""

import sys
import warnings
from collections.abc import Sequence

from deniable.errors import FrameWarning

_NAMED = 5


def warn_inferred(columns: Sequence[str]) -> None:
    """Says which columns have a type that the frame's values chose."""
    named = ", ".join(columns[:_NAMED]) + (", ..." if len(columns) > _NAMED else "")
    _warn(
        f"The values of a frame decide the types of these columns: {named}. In pandas, one "
        "missing value turns integers into decimals, and one text turns numbers into text. "
        "Then grids change, and what can be asked. Declare the kind of each column that "
        "questions use: number, integer, text, boolean or date, for example   "
        f'kind={{"{columns[0]}": "text"}}'
    )


def warn_unreadable(what: str, kind: str) -> None:
    """Says that no value can be of the declared kind, because of the column's type."""
    _warn(
        f"No value of {what} can be read as {kind}, because its type is another one. So all "
        "values count as missing. Convert them, or declare another kind."
    )


def _warn(message: str) -> None:
    """A warning that points to the code that called this package."""
    level, frame = 1, sys._getframe()
    package = __name__.partition(".")[0]
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, FrameWarning, stacklevel=level)
