"""A first look at a wide table, run: each plan through the session's one door.

All plans together must be granted before the first one is run; those answered before are free.
"""

from typing import TYPE_CHECKING

from deniable.errors import BudgetExhausted
from deniable.exact.rationals import Number
from deniable.query.language.question import Question
from deniable.query.plan.plan import Plan
from deniable.query.planner.bounds import Found, bounded
from deniable.release.answer.answer import Answer
from deniable.release.profile.agenda import (
    BINNED,
    LEVELS,
    MOST_SHOWN,
    Agenda,
    Look,
    bins,
    levels,
    plan_profile,
)
from deniable.release.profile.profile import ColumnProfile, Noted, Profile
from deniable.release.session.release import Release

if TYPE_CHECKING:
    from deniable.release.session.session import Session


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
    _check_left(session, agenda)
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
        price=agenda.price,
        remaining=session.remaining,
        plans=(*agenda.plans, *later),
    )


def _check_left(session: "Session", agenda: Agenda) -> None:
    """Refuses a profile that the ledger would not grant whole."""
    kept = None if agenda.first is None else session.kept(agenda.first)
    if not session.affords([*agenda.plans, *_later(session, agenda, kept)[1]]):
        raise BudgetExhausted(
            f"This profile costs {agenda.price}, and {session.remaining} are left. Nothing was "
            "spent and nothing was read."
        )


def _later(
    session: "Session", agenda: Agenda, powers: Answer | None
) -> tuple[tuple[Found, ...], tuple[Plan, ...]]:
    """Bounds as they were found, or the widest, and the plans of the columns within them."""
    step, first = agenda.step, agenda.first
    if step is None or first is None:
        return (), ()
    found = step.widest
    if powers is not None:
        noisy = [powers.table[one.name][0].as_py() for one in first.outputs]
        found = step.read(first, noisy)
    name, columns = agenda.table.name, list(step.ends)
    policy = bounded(session.policy, name, found)
    wishes = {"delta": 0, "confidence": agenda.counts.confidence}
    plans = tuple(
        session.plan_under(
            policy, Question(name, None, (), one), {**wishes, "epsilon": agenda.second * part}
        )
        for one, part in ((bins(columns), BINNED), (levels(columns), 1 - BINNED))
    )
    return found, plans


def _within(
    session: "Session", agenda: Agenda, rows: Release, found: dict[str, ColumnProfile]
) -> tuple[Plan, ...]:
    """Bounds first, then the columns within them; returns the plans that followed."""
    if agenda.first is None:
        return ()
    bounds, plans = _later(session, agenda, session.release(agenda.first).answer)
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
