"""Calls a mechanism many times. Calls are counted and timed, and failures are outputs."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from deniable.audit.prove.comparable_outputs import Raised
from deniable.audit.test.outputs import Batch, OutputReader, join_batches
from deniable.errors import InvalidParameter

_ONE_BY_ONE = 2_000
_NUMBERS = 1 << 20  # in one chunk of outputs
_MOST_ROWS = 1 << 17


class OutOfTime(Exception):
    """The time limit has passed."""


class CallMeter:
    """Counts calls against their limit, and watches the deadline."""

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
    """Any mechanism as a source of batches of outputs.

    It may be a function, or have a method `many(data, n)`, `release` or `randomize`.
    """

    def __init__(self, mechanism: Any, meter: CallMeter) -> None:
        self.reader = OutputReader()
        self._meter = meter
        self._call_batch = _find_batch_call(mechanism)
        self._call = _find_single_call(mechanism)
        self._rows = 1_024

    def probe(self, inputs: list[Any]) -> None:
        """Refuses a mechanism that fails on every input."""
        problem: Exception | None = None
        for data in inputs:
            try:
                outputs = (
                    [self._call(data)] * 2
                    if self._call_batch is None
                    else self._call_batch(data, 2)
                )
            except Exception as error:
                problem = error
            else:
                _check_outputs(outputs, 2)
                return
        if problem is not None:
            raise problem

    def outputs(self, data: Any, count: int) -> Iterator[Batch]:
        """`count` outputs, in chunks."""
        yield from self._chunks(count, 1, lambda n: self._call_and_read(data, n))

    def twice(self, first: Any, second: Any, count: int) -> Iterator[Batch]:
        """`count` pairs of outputs, of two calls in a row."""

        def pairs(n: int) -> Batch:
            if self._call_batch is not None:
                return self._call_and_read(first, n).pair_with(self._call_and_read(second, n))
            both = [output for _ in range(n) for output in self._call_each(first, second)]
            return self.reader.read(both[0::2]).pair_with(self.reader.read(both[1::2]))

        yield from self._chunks(count, 2, pairs)

    def in_a_row(self, data: Any, count: int) -> Iterator[Batch]:
        """`count` pairs of consecutive outputs for the same data."""

        def pairs(n: int) -> Batch:
            batch = self._call_and_read(data, 2 * n)
            return batch.rows(slice(0, None, 2)).pair_with(batch.rows(slice(1, None, 2)))

        yield from self._chunks(count, 2, pairs)

    def _chunks(self, count: int, cost: int, draw: Callable[[int], Batch]) -> Iterator[Batch]:
        while count > 0:
            n = min(count, self._rows)
            batch = draw(n)
            if self._call_batch is None:
                self._rows = _ONE_BY_ONE
            else:
                self._rows = max(1_024, min(_MOST_ROWS, _NUMBERS // batch.width))
            self._meter.spend(cost * n)
            count -= n
            yield batch

    def _call_and_read(self, data: Any, n: int) -> Batch:
        try:
            outputs = self._call_many(data, n)
        except Exception as error:
            outputs = [Raised(type(error).__name__)] * n
        return self.reader.read(_check_outputs(outputs, n))

    def _call_many(self, data: Any, n: int) -> Any:
        if self._call_batch is None:
            return [output for _ in range(n) for output in self._call_each(data)]
        return self._call_batch(data, n)

    def _call_each(self, *inputs: Any) -> Iterator[Any]:
        for data in inputs:
            try:
                yield self._call(data)
            except Exception as error:
                yield Raised(type(error).__name__)


def _check_outputs(outputs: Any, n: int) -> Sequence[Any]:
    """Checks that `many(data, n)` returned n outputs."""
    is_list = hasattr(outputs, "__getitem__") and not isinstance(outputs, str | bytes | Mapping)
    if not is_list or len(outputs) != n:
        returned = len(outputs) if is_list else type(outputs).__name__
        raise InvalidParameter(
            f"`many(data, n)` must return a list or an array of n outputs. Found {returned} "
            f"for n = {n}."
        )
    return outputs  # type: ignore[no-any-return]


def gather(chunks: Iterator[Batch]) -> Batch:
    """All chunks as one batch."""
    return join_batches(list(chunks))


def _find_single_call(mechanism: Any) -> Callable[[Any], Any]:
    for verb in ("release", "randomize"):
        if hasattr(mechanism, verb):
            method: Callable[[Any], Any] = getattr(mechanism, verb)
            return method
    if callable(mechanism):
        return mechanism  # type: ignore[no-any-return]
    if hasattr(mechanism, "many"):
        return lambda data: mechanism.many(data, 1)[0]
    raise InvalidParameter(
        "A mechanism must be a function of the data, or have `release`, `randomize` or `many`. "
        f"Found {type(mechanism).__name__}."
    )


def _find_batch_call(mechanism: Any) -> Callable[[Any, int], Any] | None:
    if hasattr(mechanism, "many"):
        method: Callable[[Any, int], Any] = mechanism.many
        return method
    if hasattr(mechanism, "randomize"):
        return _repeat(mechanism.randomize)
    if hasattr(mechanism, "release") and _noise_is_per_number(mechanism):
        return _repeat(mechanism.release)
    return None


def _noise_is_per_number(mechanism: Any) -> bool:
    """Whether a number gets the same noise alone and released together with others."""
    noise = getattr(mechanism, "noise", None)
    return noise is not None and bool(noise(1) == noise(2))


def _repeat(verb: Callable[[Any], Any]) -> Callable[[Any, int], Any]:
    """Our own mechanisms treat each whole number of an array separately."""

    def many(data: Any, n: int) -> Any:
        if isinstance(data, int | np.integer | np.bool_):
            return verb(np.full(n, data))
        return [verb(data) for _ in range(n)]

    return many
