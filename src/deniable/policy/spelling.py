"""The name that was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], listed: str) -> str:
    """A hint for a name that is not known: the nearest one, or all of them.

    >>> nearest("bound", ["bounds", "step"], "Known keys are")
    "Did you mean 'bounds'?"
    >>> nearest("colour", ["bounds", "step"], "Known keys are")
    "Known keys are 'bounds', 'step'."
    """
    names = list(known)
    lower = {one.lower(): one for one in names}
    close = get_close_matches(name.lower(), lower, n=1)
    if close:
        return f"Did you mean {lower[close[0]]!r}?"
    return f"{listed} {', '.join(map(repr, names))}." if names else ""
