"""A counter with its state: each reading ends steps, is written, and then shown."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from deniable.release.session.stream_door import StreamDoor
from deniable.streams.counters.reading import shown, shown_margin
from deniable.streams.counters.stream_price import StreamPrice
from deniable.streams.counters.tally import EventTally
from deniable.streams.counting.running import EndedStep, RunningCount
from deniable.streams.state.stored_stream import StoredStream


@dataclass(slots=True)
class SteppingCounter:
    """The numbers of a counter and its tally, in step with the state and the ledger."""

    stored: StoredStream
    price: StreamPrice
    count: RunningCount
    tally: EventTally
    sums: list[int] = field(default_factory=list)  # as shown, after each step
    own: list[int] = field(default_factory=list)  # each step alone, as shown
    _doubtful: bool = False  # whether what is in memory may not be what is written

    @classmethod
    def open(
        cls,
        door: StreamDoor,
        name: str,
        price: StreamPrice,
        tables: Sequence[str],
        about: Mapping[str, Any],
    ) -> "SteppingCounter":
        """Begins a counter, or goes on with one that was begun under this name."""
        design, promise = price.design, price.design.promise
        record = {
            "design": {
                "horizon": design.horizon,
                "window": design.window,
                "mu_squared": None if design.mu_squared is None else str(design.mu_squared),
                "epsilon": None if design.epsilon is None else str(design.epsilon),
            },
            "promise": {
                "neighbors": promise.neighbors,
                "low": promise.low,
                "high": promise.high,
                "person": promise.person,
                "per_person": promise.per_person,
            },
            "part": [list(step) for step in door.rows.path],
            **about,
        }
        stored = StoredStream(
            door, name, record, loss=price.loss, tables=tables, delta=price.delta
        )
        counter = cls(stored, price, RunningCount(design), EventTally(promise.per_person))
        counter._restore()
        return counter

    def _restore(self) -> None:
        """Takes over all that is stored."""
        self.count = RunningCount(self.price.design)
        self.tally = EventTally(self.price.design.promise.per_person)
        self.sums, self.own = [], []
        for record in self.stored.records():
            self.tally.restore(record["tally"])
            for value, released, total, own in record["steps"]:
                self.count.restore(EndedStep(value, tuple(released)))
                self.sums.append(total)
                self.own.append(own)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One process at a time; another one's readings are taken over first."""
        with self.stored.locked() as moved:
            if moved or self._doubtful:
                self._restore()
            self._doubtful = True  # until it is written: what was not did not happen
            yield
            self._doubtful = False

    def refresh(self) -> None:
        """Before numbers are shown: completes or forgets what an exception interrupted."""
        if self._doubtful:
            with self.turn():
                pass

    def end_steps(self, values: Sequence[int]) -> dict[str, Any]:
        """Ends a step for each value, with noise, and returns the record to write."""
        steps = []
        for value in values:
            ended = self.count.add(value)
            total, own = shown(self.count.total()), shown(self.count.latest())
            steps.append([ended.value, list(ended.released), total, own])
        return {"steps": steps, "tally": self.tally.changes()}

    def write(self, record: Mapping[str, Any], plan_hash: str | None = None) -> None:
        """Writes a record and the ledger's step; then its numbers may be shown."""
        self.stored.add(record, plan_hash)
        self.tally.keep()
        for _, _, total, own in record["steps"]:
            self.sums.append(total)
            self.own.append(own)

    def sum_margin(self, step: int, confidence: Fraction) -> int:
        """The margin of the sum that is shown after a step, in grid steps."""
        return shown_margin(self.price.design.sum_spread(step), confidence)

    def own_margin(self, step: int, confidence: Fraction) -> int:
        """The margin of the number of one step, in grid steps."""
        return shown_margin(self.price.design.step_spread(step), confidence)
