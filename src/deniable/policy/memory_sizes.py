"""Amounts of memory, such as "4 GB"."""

import re

from deniable.errors import InvalidPolicy

LEAST = 64 << 20  # bytes; an engine needs at least this much
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
    size = amount if isinstance(amount, int) and not isinstance(amount, bool) else None
    if isinstance(amount, str):
        match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([KMGT]i?B)\s*", amount, re.I)
        if match:
            thousandths = round(float(match[1]) * 1000)
            size = thousandths * _UNITS[match[2].lower()] // 1000
    if size is None or size < LEAST:
        raise InvalidPolicy(
            '`memory` must be an amount of at least 64 MiB, such as "4 GB" or "512 MiB". '
            f"Found {amount!r}.",
            where=("engine", "memory"),
        )
    return size
