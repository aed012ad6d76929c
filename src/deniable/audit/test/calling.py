"""Calling a mechanism many times: counted, timed, and with failures taken as outputs."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from deniable.audit.prove.comparable_outputs import Raised
from deniable.audit.test.outputs import Batch, OutputReader, joined
from deniable.errors import InvalidParameter

_ONE_BY_ONE = 2_000
_NUMBERS = 1 << 20  # in one chunk of outputs
_MOST_ROWS = 1 << 17


class OutOfTime(Exception):
    """The time limit has passed."""


class Meter:
    """How many calls were made, of how many, and until when."""

    def __init__(self, calls: int, seconds: float | None, show: Callable[[int], None]) -> None:
        self.calls, self.used = calls, 0
        self.started = time.monotonic()
        self._deadline = None if seconds is None else self.started + seconds
        self._show = show

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def left(self) -> int:
        return self.calls - self.used

    def spend(self, calls: int) -> None:
        """Counts calls; raises `OutOfTime` when the limit has passed."""
        self.used += calls
        self._show(self.used)
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTime


class Caller:
    """A mechanism of any make, as a source of batches.

    It may be a function, offer `many(data, n)`, or have `release` or `randomize` as ours do.
    """

    def __init__(self, mechanism: Any, meter: Meter) -> None:
        self.reader = OutputReader()
        self._meter = meter
        self._many = _many(mechanism)
        self._one = _one(mechanism)
        self._rows = 1_024

    def probe(self, inputs: list[Any]) -> None:
        """Refuses a mechanism that fails whatever it is given."""
        problem: Exception | None = None
        for data in inputs:
            try:
                outputs = [self._one(data)] * 2 if self._many is None else self._many(data, 2)
            except Exception as error:
                problem = error
            else:
                _counted(outputs, 2)
                return
        if problem is not None:
            raise problem

    def outputs(self, data: Any, count: int) -> Iterator[Batch]:
        """`count` outputs, in chunks."""
        yield from self._chunks(count, 1, lambda n: self._read(data, n))

    def twice(self, first: Any, second: Any, count: int) -> Iterator[Batch]:
        """`count` pairs of outputs, of two calls that follow one another."""

        def pairs(n: int) -> Batch:
            if self._many is not None:
                return self._read(first, n).beside(self._read(second, n))
            both = [output for _ in range(n) for output in self._safely(first, second)]
            return self.reader.read(both[0::2]).beside(self.reader.read(both[1::2]))

        yield from self._chunks(count, 2, pairs)

    def in_a_row(self, data: Any, count: int) -> Iterator[Batch]:
        """`count` pairs of consecutive outputs for the same data."""

        def pairs(n: int) -> Batch:
            batch = self._read(data, 2 * n)
            return batch.rows(slice(0, None, 2)).beside(batch.rows(slice(1, None, 2)))

        yield from self._chunks(count, 2, pairs)

    def _chunks(self, count: int, cost: int, draw: Callable[[int], Batch]) -> Iterator[Batch]:
        while count > 0:
            n = min(count, self._rows)
            batch = draw(n)
            if self._many is None:
                self._rows = _ONE_BY_ONE
            else:
                self._rows = max(1_024, min(_MOST_ROWS, _NUMBERS // batch.width))
            self._meter.spend(cost * n)
            count -= n
            yield batch

    def _read(self, data: Any, n: int) -> Batch:
        try:
            outputs = self._listed(data, n)
        except Exception as error:
            outputs = [Raised(type(error).__name__)] * n
        return self.reader.read(_counted(outputs, n))

    def _listed(self, data: Any, n: int) -> Any:
        if self._many is None:
            return [output for _ in range(n) for output in self._safely(data)]
        return self._many(data, n)

    def _safely(self, *inputs: Any) -> Iterator[Any]:
        for data in inputs:
            try:
                yield self._one(data)
            except Exception as error:
                yield Raised(type(error).__name__)


def _counted(outputs: Any, n: int) -> Sequence[Any]:
    """The n outputs of `many(data, n)`; anything else is a slip, and no output."""
    listed = hasattr(outputs, "__getitem__") and not isinstance(outputs, str | bytes | Mapping)
    if not listed or len(outputs) != n:
        found = len(outputs) if listed else type(outputs).__name__
        raise InvalidParameter(
            f"`many(data, n)` must return a list or an array of n outputs. Found {found} for "
            f"n = {n}."
        )
    return outputs  # type: ignore[no-any-return]


def gathered(chunks: Iterator[Batch]) -> Batch:
    """All chunks as one batch."""
    return joined(list(chunks))


def _one(mechanism: Any) -> Callable[[Any], Any]:
    for verb in ("release", "randomize"):
        if hasattr(mechanism, verb):
            found: Callable[[Any], Any] = getattr(mechanism, verb)
            return found
    if callable(mechanism):
        return mechanism  # type: ignore[no-any-return]
    if hasattr(mechanism, "many"):
        return lambda data: mechanism.many(data, 1)[0]
    raise InvalidParameter(
        f"A mechanism must be a function of the data. Found {type(mechanism).__name__}."
    )


def _many(mechanism: Any) -> Callable[[Any, int], Any] | None:
    if hasattr(mechanism, "many"):
        found: Callable[[Any, int], Any] = mechanism.many
        return found
    if hasattr(mechanism, "randomize"):
        return _repeated(mechanism.randomize)
    if hasattr(mechanism, "release") and _alike(mechanism):
        return _repeated(mechanism.release)
    return None


def _alike(mechanism: Any) -> bool:
    """Whether many numbers, released together, each get the noise that one would get."""
    noise = getattr(mechanism, "noise", None)
    return noise is not None and bool(noise(1) == noise(2))


def _repeated(verb: Callable[[Any], Any]) -> Callable[[Any, int], Any]:
    """Our own mechanisms treat each whole number of an array on its own."""

    def many(data: Any, n: int) -> Any:
        if isinstance(data, int | np.integer | np.bool_):
            return verb(np.full(n, data))
        return [verb(data) for _ in range(n)]

    return many
