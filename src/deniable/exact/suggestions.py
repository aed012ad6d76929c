"""Hints for names that are not known: which name was probably meant."""

from collections.abc import Iterable

# Options that were renamed. Nothing else accepts the old names.
RENAMED = {
    "max_groups": "max_groups_per_unit",
    "max_rows": "max_rows_per_unit_per_group",
}

# What other libraries call the same, where the letters alone do not tell.
OTHER_NAMES = {"avg": "mean", "average": "mean", "std": "stddev", "var": "variance"}


def suggest(name: str, known: Iterable[str], listed: str) -> str:
    """A hint for an unknown name: the most similar known name, or all of them.

    >>> suggest("bound", ["bounds", "step"], "Known keys are")
    'Did you mean `bounds`?'
    >>> suggest("colour", ["bounds", "step"], "Known keys are")
    'Known keys are `bounds`, `step`.'
    >>> suggest("max_rows", ["max_rows_per_unit_per_group"], "Known keys are")
    'It is now called `max_rows_per_unit_per_group`.'
    """
    names = list(known)
    if RENAMED.get(name) in names:
        return f"It is now called `{RENAMED[name]}`."
    listing = f"{listed} {', '.join(f'`{key}`' for key in names)}." if names else ""
    return did_you_mean(name, names) or listing


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question about the most similar known name; empty if none is similar.

    >>> did_you_mean("BOUND", ["bounds", "step"]), did_you_mean("avg", ["max", "mean"])
    ('Did you mean `bounds`?', 'Did you mean `mean`?')
    """
    from difflib import get_close_matches  # slow to import

    lower = {candidate.lower(): candidate for candidate in known}
    other = OTHER_NAMES.get(name.lower())
    close = [other] if other in lower else get_close_matches(name.lower(), lower, n=1)
    return f"Did you mean `{lower[close[0]]}`?" if close else ""


def pluralize(number: int, noun: str) -> str:
    """The number and the noun, with an s unless the number is 1.

    >>> pluralize(1, "group"), pluralize(1200, "row")
    ('1 group', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def declaration(column: str, *, bounds: bool = False, lists: bool = False) -> str:
    """How to declare the keys or the bounds of a column, or of the elements of its lists, in a
    policy and in Python.

    >>> declaration("ward")
    'ward = { keys = ["A", "B"] }   (in Python: keys={"ward": ["A", "B"]})'
    >>> declaration("cost", bounds=True)
    'cost = { bounds = [0, 1000], step = 1 }   (in Python: bounds={"cost": (0, 1000)})'
    >>> declaration("codes", lists=True)
    'codes = { length = 5, keys = ["A", "B"] }   (in Python: keys={"codes": ["A", "B"]})'
    """
    text = '"' + column.replace("\\", "\\\\").replace('"', '\\"') + '"'
    plain = column.isascii() and column.replace("_", "").isalnum()
    key = column if plain else text
    if bounds:
        rule, call = "{ bounds = [0, 1000], step = 1 }", f"bounds={{{text}: (0, 1000)}}"
    else:
        rule, call = '{ keys = ["A", "B"] }', f'keys={{{text}: ["A", "B"]}}'
    rule = rule.replace("{", "{ length = 5,", 1) if lists else rule
    return f"{key} = {rule}   (in Python: {call})"
