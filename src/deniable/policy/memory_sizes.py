"""Amounts of memory, as people write them."""

import re

from deniable.errors import InvalidPolicy

LEAST = 64 << 20  # bytes with which an engine can do anything useful
_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12} | {
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}


def in_bytes(amount: int | str) -> int:
    """An amount such as "4 GB" or "512 MiB", or a number of bytes.

    >>> in_bytes("4 GB"), in_bytes("512MiB"), in_bytes(10**9)
    (4000000000, 536870912, 1000000000)
    """
    found = amount if isinstance(amount, int) and not isinstance(amount, bool) else None
    if isinstance(amount, str):
        read = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([KMGT]i?B)\s*", amount, re.I)
        if read:
            thousandths = round(float(read[1]) * 1000)
            found = thousandths * _UNITS[read[2].lower()] // 1000
    if found is None or found < LEAST:
        raise InvalidPolicy(
            f'`memory` must be an amount such as "4 GB", of at least 64 MiB. Found {amount!r}.',
            where=("engine", "memory"),
        )
    return found
