"""Columns that hold lists: how long a list may be, and the types of lists and elements."""

from deniable.errors import InvalidPolicy

LONGEST_LIST = 1000  # elements; engines read no more of any list


def element_type(type_: str) -> str | None:
    """The type of a list's elements, in DuckDB's words; None for another type.

    >>> element_type("VARCHAR[]"), element_type("VARCHAR"), element_type("LIST")
    ('VARCHAR', None, None)
    """
    return type_.removesuffix("[]") if type_.endswith("[]") else None


def check_length(name: str, length: object) -> None:
    """Refuses a length that is not a small whole number."""
    whole = isinstance(length, int) and not isinstance(length, bool)
    if not whole or not 1 <= int(str(length)) <= LONGEST_LIST:
        raise InvalidPolicy(
            f"Column {name!r}: `length` must be a whole number from 1 to {LONGEST_LIST:,}: how "
            f"many elements of a list count. Found {length!r}.",
            where=("columns", name, "length"),
        )


def check_element_kind(name: str, kind: str | None) -> None:
    """Refuses elements that UNNEST could not hand on."""
    if kind not in ("number", "text", "boolean"):
        raise InvalidPolicy(
            f"Column {name!r}: UNNEST takes lists of numbers, texts and booleans, and these "
            f"are lists of {kind or 'something else'}. Convert them in the source, or remove "
            "`length`.",
            where=("columns", name, "length"),
        )


def list_element(name: str, type_: str) -> str:
    """The type of the elements of a column with a `length`. Refuses a source without lists."""
    inside = element_type(type_)
    if inside is None:
        raise InvalidPolicy(
            f"Column {name!r} has a `length`, so it should hold lists of plain values, but its "
            f"source has the type {type_}. Remove `length`, or store lists, such as VARCHAR[].",
            where=("columns", name, "length"),
        )
    return inside
