"""Outputs of any kind as columns that can be searched: numbers, kinds, lengths and keys.

A number keeps its value to the last bit. Text, None, failures and other leaves get code
numbers. Lists, tuples, arrays and mappings become one column for each leaf. Equal outputs have
equal keys, so exact outputs can be counted by their keys.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ABSENT = -1
_FLOAT, _INT, _BOOL = 0, 1, 2
_FIRST_CODE = 3
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@dataclass(frozen=True, slots=True)
class Batch:
    """Outputs as columns. `kinds` is None if all columns hold one kind of number."""

    values: Floats  # (n, columns); nan where there is no number
    kinds: NDArray[np.int32] | None
    lengths: NDArray[np.int64] | None
    keys: NDArray[np.uint64]
    floating: bool
    name: Callable[[int], str] = field(default=str, repr=False)  # what a kind means
    memo: dict[Any, Floats] = field(default_factory=dict, repr=False)  # features read so far

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def column(self, j: int) -> Floats:
        """The numbers of one column; nan for outputs that are shorter."""
        return self.values[:, j] if j < self.width else np.full(len(self), np.nan)

    def kind(self, j: int) -> NDArray[np.int32]:
        if self.kinds is None or j >= self.width:
            code = _FLOAT if j < self.width else _ABSENT
            return np.full(len(self), code, dtype=np.int32)
        return self.kinds[:, j]

    def rows(self, which: slice) -> "Batch":
        """A part of the outputs."""
        return Batch(
            self.values[which],
            None if self.kinds is None else self.kinds[which],
            None if self.lengths is None else self.lengths[which],
            self.keys[which],
            self.floating,
            self.name,
        )

    def pair_with(self, other: "Batch") -> "Batch":
        """Pairs of outputs, as when a mechanism is called twice."""
        kinds = None
        if self.kinds is not None or other.kinds is not None:
            kinds = np.hstack([_all_kinds(self), _all_kinds(other)])
        return Batch(
            np.hstack([self.values, other.values]),
            kinds,
            None if self.lengths is None else self.lengths,
            _mix_keys(self.keys, other.keys),
            self.floating or other.floating,
            _kind_names([self, other]),
        )


def _all_kinds(batch: Batch) -> NDArray[np.int32]:
    if batch.kinds is not None:
        return batch.kinds
    return np.zeros(batch.values.shape, dtype=np.int32)


def join_batches(batches: Sequence[Batch]) -> Batch:
    """All outputs of several batches."""
    width = max(batch.width for batch in batches)
    kinds = None
    if any(batch.kinds is not None or batch.width < width for batch in batches):
        kinds = np.vstack([_pad(_all_kinds(batch), width, _ABSENT) for batch in batches])
    lengths = None
    if any(batch.lengths is not None for batch in batches):
        lengths = np.concatenate(
            [
                np.full(len(batch), batch.width) if batch.lengths is None else batch.lengths
                for batch in batches
            ]
        )
    return Batch(
        np.vstack([_pad(batch.values, width, np.nan) for batch in batches]),
        kinds,
        lengths,
        np.concatenate([batch.keys for batch in batches]),
        any(batch.floating for batch in batches),
        _kind_names(batches),
    )


def _kind_names(batches: Sequence[Batch]) -> Callable[[int], str]:
    return next((batch.name for batch in batches if batch.kinds is not None), str)


def _pad(array: NDArray[Any], width: int, fill: float) -> NDArray[Any]:
    if array.shape[1] == width:
        return array
    more = np.full((len(array), width - array.shape[1]), fill, dtype=array.dtype)
    return np.hstack([array, more])


def _mix_keys(keys: NDArray[np.uint64], more: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Two keys as one. A product and a shift spread out numbers that are close."""
    both = (keys ^ (more + _MIX + (keys << np.uint64(6)))) * _MIX
    return both ^ (both >> _SHIFT)


class OutputReader:
    """Turns the outputs of a mechanism into batches, with the same codes for all batches.

    >>> batch = OutputReader().read([("no", 1), ("yes", 2), ("no", 1)])
    >>> batch.width, batch.kind(0).tolist(), bool(batch.keys[0] == batch.keys[2])
    (2, [3, 4, 3], True)
    """

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], int] = {}
        self._leaves: list[str] = []

    def name(self, code: int) -> str:
        """What a kind means."""
        if code >= _FIRST_CODE:
            return self._leaves[code - _FIRST_CODE]
        return {_ABSENT: "absent", _FLOAT: "a float", _INT: "an int", _BOOL: "a bool"}[code]

    def read(self, outputs: Any) -> Batch:
        """The batch of a list of outputs, or of an array whose first axis counts them."""
        if not isinstance(outputs, np.ndarray):
            outputs = _to_array(outputs)
        if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "fiub":
            return _numeric_batch(outputs)
        if isinstance(outputs, np.ndarray):
            outputs = outputs.tolist()
        return self._read_leaves(outputs)

    def _read_leaves(self, outputs: Iterable[Any]) -> Batch:
        leaves: list[list[tuple[int, float]]] = []
        for output in outputs:
            row: list[tuple[int, float]] = []
            self._add_leaves(output, row)
            leaves.append(row)
        lengths = np.array([len(row) for row in leaves], dtype=np.int64)
        width = max(1, int(lengths.max()))
        values = np.full((len(leaves), width), np.nan)
        kinds = np.full((len(leaves), width), _ABSENT, dtype=np.int32)
        filled = np.arange(width) < lengths[:, None]
        flat = [leaf for row in leaves for leaf in row]
        if flat:
            kinds[filled], values[filled] = map(list, zip(*flat, strict=True))
        keys = np.array([hash(tuple(row)) & (2**64 - 1) for row in leaves], dtype=np.uint64)
        return Batch(values, kinds, lengths, keys, bool((kinds == _FLOAT).any()), self.name)

    def _add_leaves(self, output: Any, row: list[tuple[int, float]]) -> None:
        """Adds the leaves of an output to a row. Frequent kinds are tested first."""
        kind = type(output)
        if kind is str:
            row.append(self._encode("str", output))
        elif kind is int:
            row.append((_INT, _as_float(output)))
        elif kind is float:
            row.append((_FLOAT, output if output == output else np.nan))  # one nan for all
        elif kind is bool or isinstance(output, np.bool_):
            row.append((_BOOL, float(output)))
        elif isinstance(output, np.generic):
            self._add_leaves(output.item(), row)
        elif isinstance(output, np.ndarray):
            self._add_leaves(output.tolist(), row)
        elif isinstance(output, list | tuple):
            for part in output:
                self._add_leaves(part, row)
        elif isinstance(output, Mapping):
            for key, value in sorted(output.items(), key=lambda item: repr(item[0])):
                self._add_leaves(key, row)
                self._add_leaves(value, row)
        else:
            row.append(self._encode(kind.__name__, repr(output)))

    def _encode(self, kind: str, leaf: str) -> tuple[int, float]:
        code = self._codes.setdefault((kind, leaf), _FIRST_CODE + len(self._codes))
        if code == _FIRST_CODE + len(self._leaves):
            self._leaves.append(repr(leaf) if kind == "str" else leaf)
        return code, np.nan


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _to_array(outputs: Sequence[Any]) -> Any:
    """An array of plain numbers, if the outputs are all of one numeric type and one shape."""
    first = outputs[0]
    if isinstance(first, list | tuple | np.ndarray):
        kinds = {type(leaf) for output in outputs for leaf in _leaves_of(output)}
        if (
            len(kinds) > 1
            or len({np.shape(first)} | {_shape(output) for output in outputs}) > 1
        ):
            return outputs
    else:
        kinds = set(map(type, outputs))
    if len(kinds) != 1 or not issubclass(next(iter(kinds)), bool | int | float | np.generic):
        return outputs
    try:
        array = np.array(outputs)
    except (ValueError, OverflowError):
        return outputs
    return array if array.dtype.kind in "fiub" else outputs


def _leaves_of(output: Any) -> Iterator[Any]:
    if isinstance(output, np.ndarray):
        yield from output.ravel()[:1]
    elif isinstance(output, list | tuple):
        for part in output:
            yield from _leaves_of(part)
    else:
        yield output


def _shape(output: Any) -> tuple[int, ...]:
    if isinstance(output, np.ndarray):
        return tuple(map(int, output.shape))
    if not isinstance(output, list | tuple):
        return ()
    inner = {_shape(part) for part in output}
    return (len(output), *inner.pop()) if len(inner) == 1 else (len(output), -1)


def _numeric_batch(outputs: NDArray[Any]) -> Batch:
    table = outputs.reshape(len(outputs), -1)
    if table.shape[1] == 0:
        table = np.zeros((len(outputs), 1))
    values = np.ascontiguousarray(table, dtype=np.float64)
    bits = values if outputs.dtype.kind == "f" else np.ascontiguousarray(table, dtype=np.int64)
    keys = np.zeros(len(outputs), dtype=np.uint64)
    for j in range(bits.shape[1]):
        column = np.ascontiguousarray(bits[:, j]).view(np.uint64)
        keys = column if bits.shape[1] == 1 else _mix_keys(keys, column)
    return Batch(values, None, None, keys, outputs.dtype.kind == "f")
