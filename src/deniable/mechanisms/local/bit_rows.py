"""Rows of bits, eight to a byte: drawn by the byte, and counted without unpacking.

Independent bits that are 1 with probability q are drawn eight at a time, as one of 256 patterns
of weight q**ones (1-q)**zeros, with the exact table sampler of `exact`. Columns are counted by
carry-save adders: three rows of one weight become one row of that weight and one of twice it.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.distributions import ListedDistribution
from deniable.exact.table_sampler import CHUNK, TableSampler

Rows = NDArray[np.uint8]


def byte_width(bits: int) -> int:
    """How many bytes hold `bits` bits.

    >>> byte_width(9)
    2
    """
    return -(-bits // 8)


def draw_rows(q: Fraction, rows: int, bits: int, *, source: BitSource = SYSTEM) -> Rows:
    """Draws rows of independent bits, each 1 with probability exactly q; spare bits are 0.

    >>> draw_rows(Fraction(1, 4), 5, 9).shape
    (5, 2)
    """
    table, width = _byte_sampler(q), byte_width(bits)
    flat = np.empty(rows * width, dtype=np.uint8)
    for start in range(0, flat.size, CHUNK):
        chunk = flat[start : start + CHUNK]
        chunk[:] = table.draw(chunk.size, source)
    out = flat.reshape(rows, width)
    if bits % 8:
        out[:, -1] &= (0xFF00 >> bits % 8) & 0xFF
    return out


def set_bits(rows: Rows, columns: NDArray[np.int64], values: NDArray[np.bool_]) -> None:
    """Sets one bit of each row to its value, in place.

    >>> rows = np.zeros((1, 1), dtype=np.uint8)
    >>> set_bits(rows, np.array([2]), np.array([True]))
    >>> int(rows[0, 0])
    32
    """
    byte, mask = columns >> 3, (128 >> (columns & 7)).astype(np.uint8)
    people = np.arange(rows.shape[0])
    rows[people, byte] = rows[people, byte] & ~mask | np.where(values, mask, np.uint8(0))


def count_columns(rows: Rows, bits: int) -> NDArray[np.int64]:
    """How many rows have each bit set.

    >>> count_columns(np.array([[0b10100000], [0b10000000]], dtype=np.uint8), 3).tolist()
    [2, 0, 1]
    """
    counts = np.zeros(8 * rows.shape[1], dtype=np.int64)
    weight, level = 1, np.ascontiguousarray(rows, dtype=np.uint8)
    while level.shape[0]:
        carries = []
        while level.shape[0] >= 3:
            third = level.shape[0] // 3
            a, b, c = level[:third], level[third : 2 * third], level[2 * third : 3 * third]
            half = a ^ b
            carries.append(a & b | c & half)
            level = np.concatenate([half ^ c, level[3 * third :]])
        for row in level:
            counts += weight * np.unpackbits(row).astype(np.int64)
        weight *= 2
        level = np.concatenate(carries) if carries else level[:0]
    return counts[:bits]


def read_rows(reports: NDArray[Any], bits: int) -> Rows:
    """Reads reports as rows of bytes; the spare bits must be 0.

    >>> read_rows(np.array([[160]]), 3).dtype
    dtype('uint8')
    """
    whole = reports.dtype == np.uint8 or bool(((reports >= 0) & (reports < 256)).all())
    rows = reports.astype(np.uint8, copy=False)
    if not whole or (bits % 8 and (rows[:, -1] & (0xFF >> bits % 8)).any()):
        raise InvalidData(
            f"Reports must be rows of bytes with {bits} bits in use, as `randomize` gives them."
        )
    return rows


def unpack_rows(rows: Rows, bits: int) -> NDArray[np.bool_]:
    """The bits of all rows, one column for each bit.

    >>> unpack_rows(np.array([[160]], dtype=np.uint8), 3).tolist()
    [[True, False, True]]
    """
    return np.unpackbits(rows, axis=1, count=bits).astype(bool)


def unpack_row(row: Rows, bits: int) -> list[int]:
    """The bits of one row.

    >>> unpack_row(np.array([0b10100000], dtype=np.uint8), 3)
    [1, 0, 1]
    """
    return [int(bit) for bit in np.unpackbits(np.asarray(row, dtype=np.uint8))[:bits]]


def pack_row(bits: list[int]) -> tuple[int, ...]:
    """The bytes of one row.

    >>> pack_row([1, 0, 1])
    (160,)
    """
    return tuple(int(byte) for byte in np.packbits(np.array(bits, dtype=np.uint8)))


@lru_cache(maxsize=32)
def _byte_sampler(q: Fraction) -> TableSampler:
    ones = [bin(pattern).count("1") for pattern in range(256)]
    set_, clear = q.numerator, q.denominator - q.numerator
    weights = tuple(set_**n * clear ** (8 - n) for n in ones)
    return TableSampler(ListedDistribution(weights, (Fraction(0),) * 256))
