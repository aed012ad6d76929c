"""Words for people: the name that was probably meant, and how many of something."""

from collections.abc import Iterable
from difflib import get_close_matches

# Options that were renamed. Nothing else accepts the old names.
RENAMED = {
    "max_groups": "max_groups_per_unit",
    "max_rows": "max_rows_per_unit_per_group",
}


def nearest(name: str, known: Iterable[str], listed: str) -> str:
    """A hint for a name that is not known: the nearest one, or all of them.

    >>> nearest("bound", ["bounds", "step"], "Known keys are")
    "Did you mean 'bounds'?"
    >>> nearest("colour", ["bounds", "step"], "Known keys are")
    "Known keys are 'bounds', 'step'."
    >>> nearest("max_rows", ["max_rows_per_unit_per_group"], "Known keys are")
    "It is called 'max_rows_per_unit_per_group' now."
    """
    names = list(known)
    if RENAMED.get(name) in names:
        return f"It is called {RENAMED[name]!r} now."
    lower = {one.lower(): one for one in names}
    close = get_close_matches(name.lower(), lower, n=1)
    if close:
        return f"Did you mean {lower[close[0]]!r}?"
    return f"{listed} {', '.join(map(repr, names))}." if names else ""


def counted(number: int, noun: str) -> str:
    """So many of something.

    >>> counted(1, "group"), counted(1200, "row")
    ('1 group', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
