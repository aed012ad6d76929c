"""The formats of ledgers. The head of a ledger names its format.

Format 1 had all sums in the head, and format 2 no streams. A ledger of format 2 goes on in that
format until its first stream.
"""

from deniable.errors import LedgerUnavailable

FORMAT = 3  # of the ledgers that are begun now
WITHOUT_SUMS = 2  # the first format whose head has no sums


def head_state(format_: int) -> str:
    """What the anchor of a ledger says, from format 2 on.

    >>> head_state(3)
    '{"format":3}'
    """
    return f'{{"format":{format_}}}'


def later_format(number: object) -> LedgerUnavailable:
    """The error for a ledger that a later version of Deniable has written."""
    return LedgerUnavailable(
        f"This ledger has format {number}. This version of Deniable knows formats up to "
        f"{FORMAT} and cannot say what a later one means. Nothing was spent. Use a newer "
        "version of Deniable."
    )
