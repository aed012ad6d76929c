"""What a store gives back may have been changed: then our own error, never one of Python's.

A row is only as good as its hash and the signed head. Until those are checked, any of its
columns may hold anything, also of another type: SQLite keeps what it is given.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from deniable.errors import DeniableError, LedgerBroken

_TEXTS = (str, type(None))


@contextmanager
def as_written(what: str = "An entry of the ledger") -> Iterator[None]:
    """Reads what was stored; also a decorator of functions that do nothing else.

    >>> with as_written():
    ...     {}["kind"]
    Traceback (most recent call last):
    deniable.errors.LedgerBroken: An entry of the ledger cannot be read (KeyError)...
    """
    try:
        yield
    except DeniableError:
        raise
    except (
        *(LookupError, ValueError, TypeError, AttributeError),
        *(ArithmeticError, RecursionError, AssertionError),
    ) as problem:
        raise changed_error(what, type(problem).__name__) from None


def changed_error(what: str, why: str) -> LedgerBroken:
    """The error for something that is not as it was written."""
    return LedgerBroken(
        f"{what} cannot be read ({why}): it was changed. Nothing was spent. Find the change "
        "with `deniable ledger verify`, and restore the latest copy."
    )


def checked_row(row: Sequence[Any]) -> Sequence[Any]:
    """The columns of an entry, if they have their types: a number, two texts, two keys."""
    number, body, hash_, ends, recall = row
    if not (
        type(number) is int
        and type(body) is type(hash_) is str
        and isinstance(ends, _TEXTS)
        and isinstance(recall, _TEXTS)
    ):
        raise changed_error("An entry of the ledger", "a column has another type")
    return row


def checked_anchor(row: Sequence[Any], what: str) -> Sequence[Any]:
    """The columns of the head or the checkpoint, if they have their types."""
    if tuple(map(type, row)) != (int, str, str, str):
        raise changed_error(what, "a column has another type")
    return row
