"""A first look at a wide table, run: each plan through the session's one door.

The price of all plans together is checked against what is left before the first one is run.
"""

from typing import TYPE_CHECKING

from deniable.errors import BudgetExhausted
from deniable.exact.rationals import Number
from deniable.query.bounds import bounded
from deniable.query.plan import Plan
from deniable.query.question import Question
from deniable.release.profile import ColumnProfile, Noted, Profile
from deniable.release.profile_agenda import (
    BINNED,
    LEVELS,
    MOST_SHOWN,
    Agenda,
    Look,
    bins,
    levels,
    plan_profile,
)
from deniable.release.release import Release

if TYPE_CHECKING:
    from deniable.release.session import Session


def profile(
    session: "Session",
    table: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    confidence: Number = 0.95,
) -> Profile:
    """A first look at a table for exactly this epsilon."""
    agenda = plan_profile(session, table, epsilon=epsilon, delta=delta, confidence=confidence)
    price, left = agenda.price, session.remaining
    if price.epsilon > left.epsilon or price.delta > left.delta:
        raise BudgetExhausted(
            f"This profile costs {price}, and {left} are left. Nothing was spent and nothing "
            "was read."
        )
    counted = session.release(agenda.counts)
    placed = None if agenda.quantiles is None else session.release(agenda.quantiles)
    found = {
        one.column: _seen(one, counted, counted, placed)
        for one in agenda.looks
        if one.kind in ("number", "values", "missing")
    }
    for name, made in agenda.groups.items():
        look = next(one for one in agenda.looks if one.column == name)
        found[name] = _grouped(look, counted, session.release(made))
    later = _within(session, agenda, counted, found)
    maybe = (agenda.counts, agenda.quantiles, *agenda.groups.values(), agenda.first, *later)
    columns = tuple(
        found.get(one.column, ColumnProfile(one.column, one.about, notes=(one.why,)))
        for one in agenda.looks
    )
    return Profile(
        table=agenda.table.name,
        rows=_noted(counted, "rows"),
        units=_noted(counted, "units") if agenda.table.unit is not None else None,
        unit=agenda.table.unit,
        columns=columns,
        confidence=agenda.counts.confidence,
        price=price,
        remaining=session.remaining,
        plans=tuple(one for one in maybe if one is not None),
    )


def _within(
    session: "Session", agenda: Agenda, rows: Release, found: dict[str, ColumnProfile]
) -> tuple[Plan, ...]:
    """Bounds first, then the columns within them; returns the plans that followed."""
    if agenda.step is None or agenda.first is None:
        return ()
    name, columns = agenda.table.name, list(agenda.step.ends)
    powers = session.release(agenda.first).to_arrow()
    noisy = [powers[one.name][0].as_py() for one in agenda.first.outputs]
    bounds = agenda.step.read(agenda.first, noisy)
    policy = bounded(session.policy, name, bounds)
    wishes = {"delta": 0, "confidence": agenda.counts.confidence}
    plans = tuple(
        session.plan_under(
            policy, Question(name, None, (), one), {**wishes, "epsilon": agenda.second * part}
        )
        for one, part in ((bins(columns), BINNED), (levels(columns), 1 - BINNED))
    )
    counted, placed = (session.release(one) for one in plans)
    for one in bounds:
        look = next(look for look in agenda.looks if look.column == one.column)
        words = one.words[0].upper() + one.words[1:]
        found[one.column] = _seen(look, rows, counted, placed, (words,))
    return plans


def _seen(
    look: Look,
    rows: Release,
    counted: Release,
    placed: Release | None,
    notes: tuple[str, ...] = (),
) -> ColumnProfile:
    """One column from the counts and the quantiles of all."""
    missing = _noted(rows, f"{look.column} missing")
    if look.kind == "missing":
        return ColumnProfile(look.column, look.about, missing, notes=(look.why,))
    head = f"{look.column} in["
    counts = [
        (one.name[len(head) : -1], _noted(counted, one.name))
        for one in counted.plan.outputs
        if one.name.startswith(head)
    ]
    if look.kind == "values":
        counts.sort(key=lambda one: -(one[1].value or 0))
        return ColumnProfile(look.column, look.about, missing, (), tuple(counts[:MOST_SHOWN]))
    assert placed is not None
    made = [one for one in placed.plan.outputs if one.name.startswith(f"{look.column} at[")]
    quantiles = tuple(
        (level, _noted(placed, one.name, one.margin_in))
        for level, one in zip(LEVELS, made, strict=True)
    )
    return ColumnProfile(
        look.column, look.about, missing, quantiles, tuple(counts), True, notes
    )


def _grouped(look: Look, rows: Release, answer: Release) -> ColumnProfile:
    """The most frequent values of a column, and what it takes to be shown."""
    table, made = answer.to_arrow(), answer.plan
    keys = table[made.outputs[0].name].to_pylist()
    values, margins = table["n"].to_pylist(), table[answer.answer.margins["n"]].to_pylist()
    counts = tuple(
        (str(key), Noted(value, margin))
        for key, value, margin in zip(keys, values, margins, strict=True)
    )
    notes: tuple[str, ...] = ()
    if made.thresholding is not None:
        who = "rows" if made.unit is None else "people"
        notes = (
            f"Values are private: one is shown if more than about "
            f"{made.thresholding.threshold:,} {who} have it.",
        )
        if not counts:
            notes = ("No value is common enough to be shown.", *notes)
    missing = _noted(rows, f"{look.column} missing")
    return ColumnProfile(look.column, look.about, missing, (), counts, False, notes)


def _noted(answer: Release, name: str, unit: str = "") -> Noted:
    table = answer.to_arrow()
    margin = table[answer.answer.margins[name]][0].as_py()
    return Noted(table[name][0].as_py(), margin, unit)
