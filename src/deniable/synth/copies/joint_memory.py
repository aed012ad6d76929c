"""The memory for the joint cells of a copy: every combination of cells that some row has.

Scores are computed from them, so they are held until the copy is made. How many there are is
private, and at most as many as rows. So what they may take is known before the charge if a
number of rows is declared.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from math import prod
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.policy import Table
from deniable.policy.table import ROW_CEILING

_COUNT = 8  # bytes of a number of rows
_TWICE = 2  # while batches are put together
_ENGINE = 5  # of which four parts are the engine's: DuckDB's own limit; then it uses files
_TOLD = 10**8  # bytes; less is not worth a line
_LIMITS = Path("/sys/fs/cgroup/memory.max")  # of a container, on Linux


def declared_rows(table: Table) -> int | None:
    """How many rows the table may have, as far as it is declared."""
    known = (table.expected_rows, table.row_ceiling)
    return min((rows for rows in known if rows and rows < ROW_CEILING), default=None)


def bytes_of_row(sizes: Sequence[int]) -> int:
    """The memory for one combination: one or two bytes for each column, and its count.

    >>> bytes_of_row([2, 300])
    24
    """
    width = 1 if max(sizes) <= 1 << 8 else 2
    return _TWICE * (width * len(sizes) + _COUNT)


def check_memory(table: Table, sizes: Sequence[int], engine: int | None) -> None:
    """Refuses joint cells that may not fit into memory beside the engine, which may take
    `engine` bytes."""
    whole, rows = machine_memory(), declared_rows(table)
    if whole is None or rows is None:
        return
    most = whole - whole // _ENGINE
    spare = whole - min(most, most if engine is None else engine)
    needed = min(rows, prod(sizes)) * bytes_of_row(sizes)
    if needed > spare:
        raise InvalidParameter(
            f"The cells of {rows:,} rows in {len(sizes)} columns are counted together in "
            f"memory, in up to {_gigabytes(needed)}. Of {_gigabytes(whole)} here, the engine "
            f"leaves {_gigabytes(spare)} for them. Name fewer columns with `columns`, declare "
            "fewer rows, or give the engine less `memory`. Nothing was spent."
        )


def explain_memory(table: Table, sizes: Sequence[int]) -> list[str]:
    """How much memory the joint cells may take, if it is much."""
    each, rows = bytes_of_row(sizes), declared_rows(table)
    needed = each * (prod(sizes) if rows is None else min(rows, prod(sizes)))
    if needed < _TOLD:
        return []
    if rows is not None:
        return [f"up to {_gigabytes(needed)} of memory, beside the engine's"]
    return [
        f"up to {each} bytes of memory for each row of the table; declare its expected_rows, "
        "and a copy that needs too much is refused before the charge"
    ]


def machine_memory() -> int | None:
    """The bytes of memory of this machine, or of the container we are in; None if unknown."""
    sizes = []
    with suppress(OSError, ValueError):
        sizes.append(int(_LIMITS.read_text(encoding="ascii")))
    with suppress(AttributeError, OSError, ValueError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min((size for size in sizes if size > 0), default=None)


def _gigabytes(size: int) -> str:
    return f"{size / 10**9:,.1f} GB"
