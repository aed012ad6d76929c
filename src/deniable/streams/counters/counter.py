"""`session.counter`: a count or a bounded sum over time that an application feeds."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Unpack

import pyarrow as pa

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import (
    Number,
    confidence_level,
    decimal_text,
    positive,
    rational,
    whole,
)
from deniable.exact.suggestions import pluralize
from deniable.exact.text_formats import percent
from deniable.query.planner.explain import Branch
from deniable.release.session.ask_options import StreamOptions
from deniable.release.session.door import Door, stream_door
from deniable.release.session.stream_door import StreamDoor
from deniable.streams.counters.reading import Reading, in_units, shown_margin
from deniable.streams.counters.stepping import SteppingCounter
from deniable.streams.counters.stream_price import StreamPrice, price_counter, read_options
from deniable.streams.counters.tally import Person, person_key
from deniable.streams.counting.promise import Promise, read_bounds


class Counter:
    """A private count over time. `add` events, end each `step`, and `read` as often as you
    like.

    Open one with `session.counter`. Events are secret until their step ends: then the step gets
    its noise, once, and what is shown about it never changes. What was added since the last
    step is in memory only; if ending a step fails, add the events of the next one only.
    """

    def __init__(
        self, door: StreamDoor, stepping: SteppingCounter, grid: Fraction, confidence: Fraction
    ) -> None:
        self._door, self._stepping = door, stepping
        self._grid, self._confidence = grid, confidence
        self._added: list[tuple[str | None, int, int]] = []  # person, events, value of each

    @property
    def name(self) -> str:
        """The name under which it is opened again."""
        return self._stepping.stored.name

    @property
    def steps(self) -> int:
        """The number of steps that have ended."""
        self._stepping.refresh()
        return len(self._stepping.sums)

    @property
    def horizon(self) -> int | None:
        """The number of steps that were paid for; None if without end."""
        return self._stepping.price.design.horizon

    @property
    def promise(self) -> Promise:
        """What is protected."""
        return self._stepping.price.design.promise

    def add(self, value: Number = 1, *, person: Person | None = None, times: int = 1) -> None:
        """Adds an event (or several like it) to the current step.

        A `value` is cut to the bounds and rounded to the grid. A counter that protects persons
        needs to know whose event it is, by text or a whole number: events beyond `per_person`
        do not count.
        """
        promise, events = self.promise, whole(times, "times", least=0)
        if (person is None) != (promise.person is None):
            need = "Name the" if person is None else "It does not take a"
            raise InvalidParameter(f"This counter protects {promise}. {need} `person`.")
        each = round(rational(value, "value") / self._grid)
        whose = None if person is None else person_key(person)
        self._added.append((whose, events, max(promise.low, min(promise.high, each))))

    def step(self, steps: int = 1) -> Reading:
        """Ends the current step, and further ones without events; returns the reading.

        The noise, the inputs and the position are written and recorded in the ledger before
        this returns. `UsedUp` if the horizon is over.
        """
        count, stepping = whole(steps, "steps"), self._stepping
        with stepping.turn():
            stepping.count.check_room(count)
            # If writing fails, it may have been written: these events must not count twice.
            added, self._added = self._added, []
            first = sum(self._counted(*events) for events in added)
            stepping.write(stepping.end_steps([first, *[0] * (count - 1)]))
        return self.read()

    def _counted(self, person: str | None, events: int, each: int) -> int:
        """What events add: those of a person count as long as the tally has room for them."""
        if person is not None:
            events = self._stepping.tally.take(person, events)
        return events * each

    def read(self, step: int | None = None) -> Reading:
        """The number after the last step, or after an earlier one. It is free, and for each
        step always the same."""
        last = self.steps
        at = last if step is None else whole(step, "step")
        if not 1 <= at <= last:
            raise InvalidParameter(
                f"There is no number after step {at}: {last} have ended. End one with step()."
            )
        window = self._stepping.price.design.window
        about = "so far" if window is None else f"in the last {pluralize(window, 'step')}"
        margin = self._stepping.sum_margin(at, self._confidence)
        return Reading(
            at,
            in_units(self._stepping.sums[at - 1], self._grid),
            in_units(margin, self._grid),
            f"{self.name} {about}",
            str(self.promise),
            self._confidence,
        )

    def to_arrow(self) -> "pa.Table":
        """All readings: step, value, margin, and each step's own number with its margin."""
        steps = range(1, self.steps + 1)
        stepping, level, grid = self._stepping, self._confidence, self._grid
        columns: dict[str, Sequence[Any]] = {
            "step": list(steps),
            "value": [in_units(value, grid) for value in stepping.sums],
            "margin": [in_units(stepping.sum_margin(at, level), grid) for at in steps],
            "step_value": [in_units(value, grid) for value in stepping.own],
            "step_margin": [in_units(stepping.own_margin(at, level), grid) for at in steps],
        }
        return pa.table(columns)

    def __repr__(self) -> str:
        end = "" if self.horizon is None else f" of {self.horizon}"
        return f"<counter {self.name}: {self.steps}{end} steps, protects {self.promise}>"

    def __reduce__(self) -> str:
        raise TypeError("A counter cannot be pickled: it holds exact numbers.")


def open_counter(
    session: Door,
    name: str,
    *,
    horizon: int | None,
    person: str | None,
    bounds: tuple[Number, Number],
    grid: Number,
    table: str | None,
    **given: Unpack[StreamOptions],
) -> Counter | Branch:
    """A counter of a session, charged once; or, with `explain`, what it would be."""
    options, door = read_options(given), stream_door(session)
    _check_whole(door)
    tables, step = door.tables(None if table is None else [table]), positive(grid, "grid")
    low, high = (round(bound / step) for bound in read_bounds(bounds))
    who, limit = _protected(door, tables, person, options.get("per_person"))
    promise = Promise(door.neighbors(tables), low, high, who, limit)
    price = price_counter(session.policy, promise, horizon, options)
    level = confidence_level(options.get("confidence", 0.95))
    if options.get("explain"):
        return explain_counter(f"Counter {name}", price, step, level)
    about = {"kind": "counter", "grid": str(step)}
    return Counter(door, SteppingCounter.open(door, name, price, tables, about), step, level)


def _check_whole(door: StreamDoor) -> None:
    """Refuses a session about a part: parts are charged in parallel, as no unit is in two."""
    if door.rows.path:
        raise Unsupported(
            f"This session is about a part of a table, {door.rows}. Parts are charged together "
            "as one, because each row is in one of them. Nothing ties the events of a counter "
            "to a part. Open it in the whole session, or use `watch`, which reads the part. "
            "Nothing was spent."
        )


def _protected(
    door: StreamDoor, tables: Sequence[str], person: str | None, per_person: int | None
) -> tuple[str | None, int]:
    """Who is protected, and how many events of each count; (None, 1): one event."""
    unit = _unit_of(door, tables)
    if unit is not None and person not in (None, unit):
        raise InvalidParameter(
            f"The policy protects each {unit}, so this counter does too. Found `person` "
            f"{person!r}. Leave it out, and name each event's {unit} with add(person=...). "
            "Nothing was spent."
        )
    who = unit or person
    if who is not None and per_person is None:
        raise InvalidParameter(
            f"This counter protects persons ({who}), and one may add any number of events. "
            "Give `per_person`: how many events of one person count in the whole life of the "
            "counter. Nothing was spent."
        )
    if per_person is None:
        return None, 1
    return who or "person", whole(per_person, "per_person")


def _unit_of(door: StreamDoor, tables: Sequence[str]) -> str | None:
    """The unit of all tables that are charged; None: their rows."""
    units = {name: door.policy.tables[name].unit for name in tables}
    if len(set(units.values())) > 1:
        listing = ", ".join(f"{name} ({unit or 'each row'})" for name, unit in units.items())
        raise InvalidParameter(
            f"The tables of this policy have different units: {listing}. Name the table whose "
            "unit the counter protects, and whose budget it uses, with `table`. Nothing was "
            "spent."
        )
    return next(iter(units.values()), None)


def explain_counter(
    title: str, price: StreamPrice, grid: Fraction, confidence: Fraction, *more: str
) -> Branch:
    """What a counter protects, costs and will show. Nothing in it depends on an event."""
    design = price.design
    kind = "Gaussian" if design.mu_squared is not None else "Laplace"
    first, last = design.sum_spread(1), shown_margin(design.worst, confidence)
    end = f"{design.horizon} steps" if design.horizon else "no end, in epochs that double"
    shows = "the sum of all steps"
    if design.window is not None:
        shows = f"the sum of the last {pluralize(design.window, 'step')}"
    about = "about " if design.places_between > 1 else ""
    margins = [in_units(m, grid) for m in (shown_margin(first, confidence), last)]
    lines = [
        f"protects {design.promise}",
        f"costs {price}, once, for {end}",
        f"shows {shows}, with {kind} noise: ± {margins[0]} at first, at most {about}± "
        f"{margins[1]}"
        f"{'' if design.horizon else ' in the first epoch'}, at {percent(confidence)}",
        f"values are cut to {decimal_text(design.promise.low * grid)} to "
        f"{decimal_text(design.promise.high * grid)}, in steps of {decimal_text(grid)}",
        *more,
    ]
    return Branch(title, tuple(map(Branch, lines)))
