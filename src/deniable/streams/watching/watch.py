"""`session.watch`: a standing question about a table that grows, charged once."""

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Unpack

from deniable.engines.handover.exact_groups import ExactGroups
from deniable.errors import InvalidParameter
from deniable.exact.rationals import confidence_level, whole
from deniable.policy import Table
from deniable.query.planner.explain import Branch
from deniable.release.session.ask_options import StreamOptions
from deniable.release.session.door import Door, stream_door
from deniable.release.session.stream_door import StreamDoor
from deniable.streams.counters.counter import explain_counter
from deniable.streams.counters.reading import in_units
from deniable.streams.counters.stepping import SteppingCounter
from deniable.streams.counters.stream_price import price_counter, read_options
from deniable.streams.counting.promise import Promise
from deniable.streams.state.stored_stream import stored_about
from deniable.streams.watching.schedule import WatchSchedule, read_day
from deniable.streams.watching.watch_plans import WatchQuestion, row_values, watched_number
from deniable.streams.watching.watched import WatchedSteps

RULE = (
    "a step is read once, {wait} days after its last day; rows that come or change later do "
    "not change it, a row that is moved to a later step counts there again, and equal rows all "
    "count"
)


@dataclass(slots=True)
class Watch:
    """A standing question. `read` ends the steps that are over, and shows all numbers so far.

    Open one with `session.watch`. A number that was shown never changes.
    """

    _session: Door
    _door: StreamDoor
    _question: WatchQuestion
    schedule: WatchSchedule
    grid: Fraction
    wait: int
    confidence: Fraction
    most: int  # rows of one person that a day is read with
    counts: bool  # whether rows are counted, and not added up
    output: str
    _stepping: SteppingCounter

    @property
    def name(self) -> str:
        """The name under which it is opened again."""
        return self._stepping.stored.name

    @property
    def promise(self) -> Promise:
        """What is protected."""
        return self._stepping.price.design.promise

    @property
    def steps(self) -> int:
        """The number of steps that were read."""
        self._stepping.refresh()
        return len(self._stepping.sums)

    def read(self, through: object = None) -> WatchedSteps:
        """All numbers so far. Reads the steps that are over at the end of a day: yesterday,
        unless `through` names another one. Steps that were read before are not read again."""
        last = read_day(_yesterday() if through is None else through, "through")
        due = self.schedule.due(last, wait=self.wait)
        with self._stepping.turn():
            done = self._stepping.count.steps
            if due > done:
                self._read_steps(range(done + 1, due + 1))
        return self._shown()

    def _read_steps(self, steps: range) -> None:
        days = {
            day.isoformat(): place
            for place, step in enumerate(steps)
            for day in self.schedule.days(step)
        }
        dates = [datetime.date.fromisoformat(day) for day in days]
        price = self._stepping.stored.run.price[0]
        plan = self._question.plan(self._session, dates, self.most, price)
        self._check_values(row_values(plan))

        def end(groups: ExactGroups) -> dict[str, Any]:
            return self._stepping.end_steps(self._values(groups, days, len(steps)))

        most, charged = _moves(self.promise, len(days), self.most), self._stepping.stored.tables
        record = self._door.read(plan, most, charged, end)()
        record["version"] = self._door.policy.data_name([self._question.table])
        self._stepping.write(record, self._door.plan_hash(plan))

    def _check_values(self, values: tuple[int, int, Fraction]) -> None:
        """The policy may have other bounds by now: the noise was made for these."""
        if values != (self.promise.low, self.promise.high, self.grid):
            raise InvalidParameter(
                "The policy has other bounds, or another grid, than when this watch began: its "
                "noise was made for those. Restore them, or begin a watch under another name. "
                "Nothing was read."
            )

    def _values(self, groups: ExactGroups, days: Mapping[str, int], count: int) -> list[int]:
        """The inputs of the steps. Of each person, only as much counts as the tally allows."""
        values, (numbers,) = [0] * count, groups.features.values()
        rows = sorted(
            (day, str(person), int(number))
            for day, person, number in zip(
                groups.keys[0].to_pylist(), self._persons(groups), numbers, strict=True
            )
            if day in days
        )
        for day, person, number in rows:
            if self._question.unit is None:
                values[days[day]] += number
            else:
                values[days[day]] += self._counted(person, number)
        return values

    def _persons(self, groups: ExactGroups) -> Sequence[Any]:
        if self._question.unit is None:
            return [""] * groups.groups
        persons: list[Any] = groups.keys[1].to_pylist()
        return persons

    def _counted(self, person: str, number: int) -> int:
        """What the rows of one person on one day add. In a sum a day counts as `most`
        events."""
        if self.counts:
            return self._stepping.tally.take(person, min(number, self.most))
        if self._stepping.tally.left(person) < self.most:
            return 0
        self._stepping.tally.take(person, self.most)
        low, high = self.most * self.promise.low, self.most * self.promise.high
        return max(low, min(high, number))

    def _shown(self) -> WatchedSteps:
        stepping, level, grid = self._stepping, self.confidence, self.grid
        steps = range(1, self.steps + 1)
        return WatchedSteps(
            column=self._question.column,
            output=self.output,
            days=tuple(self.schedule.days(step)[0] for step in steps),
            values=tuple(in_units(own, grid) for own in stepping.own),
            margins=tuple(in_units(stepping.own_margin(step, level), grid) for step in steps),
            totals=tuple(in_units(total, grid) for total in stepping.sums),
            total_margins=tuple(
                in_units(stepping.sum_margin(step, level), grid) for step in steps
            ),
            window=stepping.price.design.window,
            confidence=level,
            promise=str(self.promise),
            remaining=str(self._door.remaining),
        )

    def __repr__(self) -> str:
        return (
            f"<watch {self.name}: {self.steps} of {self.schedule.steps} steps, protects "
            f"{self.promise}>"
        )

    def __reduce__(self) -> str:
        raise TypeError("A watch cannot be copied or pickled: it reads exact numbers.")


def open_watch(
    session: Door,
    question: str,
    *,
    name: str | None,
    until: object,
    since: object,
    every: object,
    wait: int,
    **arguments: Unpack[StreamOptions],
) -> Watch | Branch:
    """A watch of a session, charged once; or, with `explain`, what it would be."""
    options, door = read_options(arguments), stream_door(session)
    watch_question, days = WatchQuestion.read(session, question), whole(wait, "wait", least=0)
    called = name or _name_of(question, door)
    begun = stored_about(door, called).get("since") if since is None else since
    schedule, table = (
        WatchSchedule.of(begun, until, every),
        session.policy.tables[watch_question.table],
    )
    limit = _per_person(table, options.get("per_person"))
    trial = watch_question.plan(session, schedule.days(1), limit, Fraction(1))
    low, high, grid = row_values(trial)
    number = watched_number(trial, watch_question.column)
    counts = grid == 1 and number.count
    most = limit if counts else min(limit, table.max_rows_per_unit_per_group)
    tables = door.private(trial)  # WHERE may read more than one
    promise = Promise(door.neighbors(tables), low, high, table.unit, limit)
    price = price_counter(session.policy, promise, schedule.steps, options)
    level = confidence_level(options.get("confidence", 0.95))
    first = schedule.days(1)
    allowed = _moves(price.design.promise, len(first), most)
    checked = door.check(
        watch_question.plan(session, first, most, Fraction(1)), allowed, tables
    )
    if options.get("explain"):
        rule = RULE.format(wait=days)
        about = f"Watch from {schedule.since} to {schedule.until}"
        return explain_counter(about, price, grid, level, rule, checked.describe(None))
    shape = {"grid": str(grid), "wait": days, "most": most, "unit": _kind_of_unit(table)}
    record = {"kind": "watch", "question": question, **schedule.to_json(), **shape}
    stepping = SteppingCounter.open(door, called, price, tables, record)
    facts = (grid, days, level, most, counts, number.name)
    return Watch(session, door, watch_question, schedule, *facts, stepping)


def _moves(promise: Promise, days: int, most: int) -> tuple[int, int]:
    """How far one unit may move what is read about these days, before the tally."""
    return promise.moves() if promise.person is None else promise.moves(days, most)


def _name_of(question: str, door: StreamDoor) -> str:
    """A name for a question, about the rows that this session is about."""
    text = f"{question}\n{door.rows.path}" if door.rows.path else question
    return f"watch {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _per_person(table: Table, per_person: int | None) -> int:
    if table.unit is None and per_person is not None:
        raise InvalidParameter(
            f"Each row of {table.name} is protected by itself: leave `per_person` out, or name "
            "the unit in the policy. Nothing was spent."
        )
    if table.unit is not None and per_person is None:
        raise InvalidParameter(
            f"{table.name} protects persons ({table.unit}), and one may have rows on every "
            "day. Give `per_person`: how many rows of one person count in all steps together. "
            "Nothing was spent."
        )
    unit = None if table.unit is None else table.columns[table.unit]
    if unit is not None and unit.kind == "number" and not unit.integer:
        raise InvalidParameter(
            f"The unit {table.unit} of {table.name} is a number that need not be whole. Such a "
            "number may be written in two ways: one person would have two tallies. Store it as "
            "whole numbers or as text, and declare no `kind` for it. Nothing was spent."
        )
    return whole(1 if per_person is None else per_person, "per_person")


def _kind_of_unit(table: Table) -> str | None:
    """How the unit is written. A tally cannot go on if that changes."""
    return None if table.unit is None else f"{table.unit} {table.columns[table.unit].kind}"


def _yesterday() -> datetime.date:
    return datetime.date.today() - datetime.timedelta(days=1)
