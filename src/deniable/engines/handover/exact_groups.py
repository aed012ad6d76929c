"""What an engine hands over: for each group its keys, and exact integers.

The groups may not fit into memory, so they come in batches. Each batch is an `ExactGroups`,
and no group is in two batches.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[Any]  # int64, or Python integers if they do not fit

_LARGEST = 2**127 - 1
_MOST_DIGITS = 80  # of a decimal; Arrow's have at most 76


@dataclass(frozen=True, slots=True)
class CellCounts:
    """How many rows of each group fall into each cell, without empty cells. Private.

    >>> CellCounts((pa.array(["A", "B"]),), np.array([4, 7]), np.array([1, 20]))
    Cells(...)
    """

    keys: tuple["pa.Array[Any]", ...] = field(repr=False)
    cell: NDArray[np.int64] = field(repr=False)
    count: NDArray[np.int64] = field(repr=False)

    def __repr__(self) -> str:
        return "Cells(...)"


@dataclass(frozen=True, slots=True)
class JointCells:
    """How many rows have each combination of cells, without empty ones. Private.

    >>> JointCells(np.array([[0, 1]], dtype=np.int32), np.array([7]), (2, 2))
    Cells(...)
    """

    codes: NDArray[Any] = field(repr=False)  # a row for each, a column for each column
    count: NDArray[np.int64] = field(repr=False)
    sizes: tuple[int, ...]  # the number of cells of each column; every code is below it
    _tables: dict[tuple[int, ...], NDArray[np.int64]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def __repr__(self) -> str:
        return "Cells(...)"

    def table(self, columns: tuple[int, ...]) -> NDArray[np.int64]:
        """The counts of some columns' cells, of which the last column's vary fastest. They are
        kept, and must not be changed."""
        if columns not in self._tables:
            sizes = self.sizes
            cell = np.zeros(len(self.count), dtype=np.int64)
            for place in columns:
                cell = cell * sizes[place] + self.codes[:, place]
            counts = np.zeros(math.prod(sizes[place] for place in columns), dtype=np.int64)
            np.add.at(counts, cell, self.count)
            self._tables[columns] = counts
        return self._tables[columns]

    @classmethod
    def read(
        cls, batches: "Iterable[pa.RecordBatch]", sizes: tuple[int, ...], most: int
    ) -> "JointCells":
        """From batches with the columns c0, c1, ... and n. Every cell is cut to its column's
        range, and every count to `most`, so that nothing can fail later. Cells take as few
        bytes as their numbers need: there may be as many as rows."""
        codes, counts = list[NDArray[Any]](), list[NDArray[np.int64]]()
        narrow = np.min_scalar_type(max(sizes, default=1) - 1)
        for batch in batches:
            counts.append(np.clip(to_integers(batch["n"]), 0, most).astype(np.int64))
            own = np.empty((len(counts[-1]), len(sizes)), dtype=narrow)
            for place, size in enumerate(sizes):
                own[:, place] = np.clip(to_integers(batch[f"c{place}"]), 0, size - 1)
            codes.append(own)
        return cls(np.concatenate(codes), np.concatenate(counts), sizes)


@dataclass(frozen=True, slots=True)
class ExactGroups:
    """Groups in no particular order, with exact integers. Private.

    >>> ExactGroups((pa.array(["A", "B"]),), None, {"n": np.array([3, 4])})
    Aggregated(...)
    """

    keys: tuple["pa.Array[Any]", ...] = field(repr=False)  # one array per key column
    units: NDArray[np.int64] | None = field(repr=False)  # how many units each group has
    features: dict[str, Integers] = field(repr=False)
    cells: dict[str, CellCounts] = field(repr=False, default_factory=dict)  # by statement
    joint: JointCells | None = field(repr=False, default=None)

    def __repr__(self) -> str:
        return "Aggregated(...)"

    @property
    def groups(self) -> int:
        """The number of groups; also private, unless all keys are declared."""
        columns = [*self.keys, *self.features.values()]
        columns += [] if self.units is None else [self.units]
        return len(columns[0]) if columns else 0

    @classmethod
    def join(cls, batches: "Iterable[ExactGroups]") -> "ExactGroups":
        """All groups of one batch or more.

        >>> batch = ExactGroups((), None, {"n": np.array([3])})
        >>> ExactGroups.join([batch, batch]).features
        {'n': array([3, 3])}
        """
        groups = list(batches)
        first = groups[0]
        if len(groups) == 1:
            return first
        return cls(
            keys=tuple(
                map(pa.concat_arrays, zip(*(batch.keys for batch in groups), strict=True))
            ),
            units=None
            if first.units is None
            else np.concatenate([batch.units for batch in groups if batch.units is not None]),
            features={
                name: np.concatenate([batch.features[name] for batch in groups])
                for name in first.features
            },
            cells=first.cells,
        )


def to_integers(column: "pa.ChunkedArray[Any] | pa.Array[Any]") -> Integers:
    """A column of whole numbers as int64, or as Python integers if they do not fit.

    Sums arrive as decimals of 38 digits; their 128 bits are read directly. NULL becomes 0, and
    so does every value that is not a number: no value makes this fail.

    >>> (
    ...     to_integers(pa.chunked_array([[1, None]])),
    ...     to_integers(pa.chunked_array([[10**30]], type=pa.decimal128(38, 0))),
    ... )
    (array([1, 0]), array([1000000000000000000000000000000], dtype=object))
    """
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = [_chunk_to_integers(chunk) for chunk in chunks] or [np.empty(0, np.int64)]
    if len(parts) > 1 and any(part.dtype == object for part in parts):
        parts = [part.astype(object) for part in parts]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def to_integer(value: object) -> int:
    """A number as an integer, cut to 128 bits if it is infinite; 0 for anything else.

    >>> to_integer(True), to_integer(2.7), to_integer(float("nan")), to_integer("7")
    (1, 2, 0, 0)
    """
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Decimal):
        if value.is_nan():
            return 0
        if value.is_infinite() or value.adjusted() > _MOST_DIGITS:
            return _LARGEST if value > 0 else -_LARGEST
        return int(value)
    if isinstance(value, float | np.floating):
        if math.isnan(value):
            return 0
        return int(value) if math.isfinite(value) else _LARGEST if value > 0 else -_LARGEST
    return 0


def _chunk_to_integers(chunk: "pa.Array[Any]") -> Integers:
    kind = chunk.type
    if pa.types.is_decimal128(kind) and kind.scale == 0:
        values = _read_128_bits(chunk)
    elif pa.types.is_integer(kind) and kind != pa.uint64():
        values = np.asarray(chunk.fill_null(0).cast(pa.int64()))
    elif _is_number(kind):
        values = np.array([to_integer(value) for value in chunk.to_pylist()], dtype=object)
    else:
        return np.zeros(len(chunk), np.int64)
    if chunk.null_count:
        values = np.where(np.asarray(chunk.is_valid()), values, 0)
    return values


def _is_number(kind: "pa.DataType") -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(test(kind) for test in tests) or pa.types.is_boolean(kind)


def _read_128_bits(chunk: "pa.Array[Any]") -> Integers:
    """128-bit integers, from their low and high halves."""
    buffer = chunk.buffers()[1]
    halves = np.frombuffer(buffer if buffer is not None else b"", dtype=np.int64)
    rows = halves.reshape(-1, 2)[chunk.offset : chunk.offset + len(chunk)]
    low, high = np.ascontiguousarray(rows.T)
    if np.array_equal(high, low >> 63):  # the high half only repeats the sign
        return np.array(low)
    return np.array(high.astype(object) * 2**64 + low.view(np.uint64).astype(object))
