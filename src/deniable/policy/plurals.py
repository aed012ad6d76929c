"""A number and its noun, for messages."""


def pluralize(number: int, noun: str) -> str:
    """The number and the noun, with an s unless the number is 1.

    >>> pluralize(1, "group"), pluralize(1200, "row")
    ('1 group', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
