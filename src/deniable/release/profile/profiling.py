"""Runs the plans of a profile and reads their answers.

All plans are steps of one run: the ledger is charged once, before the first one is run.
"""

from typing import NotRequired, TypedDict, Unpack

from deniable.exact.rationals import Number
from deniable.query.language.question import Question
from deniable.query.plan.plan import Plan
from deniable.query.planner.bounds_search import FoundBounds, with_bounds
from deniable.release.answer.answer_table import Answer
from deniable.release.profile.profile import Profile
from deniable.release.profile.profile_plans import (
    HISTOGRAM_SHARE,
    LEVELS,
    MAX_SHOWN,
    ColumnLook,
    ProfilePlans,
    histogram_outputs,
    plan_profile,
    quantile_outputs,
)
from deniable.release.profile.table_profile import ColumnProfile, NoisyNumber
from deniable.release.session.door import Door
from deniable.release.session.release import Release
from deniable.release.session.runs import RecalledRun, Run


class ProfilePrice(TypedDict):
    """What a profile costs, and the confidence of its margins."""

    epsilon: Number
    delta: NotRequired[Number | None]
    confidence: NotRequired[Number]


def profile(
    session: Door,
    table: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    confidence: Number = 0.95,
) -> Profile:
    """A first look at a table. It costs exactly `epsilon`."""
    prepared = plan_profile(session, table, epsilon=epsilon, delta=delta, confidence=confidence)
    widest = _plan_within_bounds(session, prepared, None)[1]
    price = {"epsilon": epsilon, "delta": delta, "confidence": confidence}
    request = {"profile": {"table": prepared.table.name, **price}}
    with session.run_like((*prepared.plans, *widest), purpose=request) as run:
        counted = run.release(prepared.counts)
        placed = None if prepared.quantiles is None else run.release(prepared.quantiles)
        profiles = {
            look.column: _read_column(look, counted, counted, placed)
            for look in prepared.looks
            if look.kind in ("number", "values", "missing")
        }
        for name, plan in prepared.groups.items():
            look = next(look for look in prepared.looks if look.column == name)
            profiles[name] = _read_frequent_values(look, counted, run.release(plan))
        later_plans = _find_bounds_and_measure(session, run, prepared, counted, profiles)
    columns = tuple(
        profiles.get(look.column, ColumnProfile(look.column, look.about, notes=(look.why,)))
        for look in prepared.looks
    )
    return Profile(
        table=prepared.table.name,
        rows=_read_number(counted, "rows"),
        units=_read_number(counted, "units") if prepared.table.unit is not None else None,
        unit=prepared.table.unit,
        columns=columns,
        confidence=prepared.counts.confidence,
        price=prepared.price,
        remaining=session.remaining,
        plans=(*prepared.plans, *later_plans),
    )


def plan_whole_profile(
    session: Door, table: str | None = None, **price: Unpack[ProfilePrice]
) -> tuple[Plan, ...]:
    """The plans of a profile's steps, or others at the same price. Nothing is spent."""
    prepared = plan_profile(session, table, **price)
    return (*prepared.plans, *_plan_within_bounds(session, prepared, None)[1])


def _plan_within_bounds(
    session: Door, prepared: ProfilePlans, answer: Answer | None
) -> tuple[tuple[FoundBounds, ...], tuple[Plan, ...]]:
    """The bounds in the answer (the widest without one), and the plans within them."""
    step, first = prepared.step, prepared.first
    if step is None or first is None:
        return (), ()
    bounds = step.widest
    if answer is not None:
        noisy = [answer.table[output.name][0].as_py() for output in first.outputs]
        bounds = step.read(first, noisy)
    name, columns = prepared.table.name, list(step.ends)
    policy = with_bounds(session.policy, name, bounds)
    options = {"delta": 0, "confidence": prepared.counts.confidence}
    plans = tuple(
        session.plan_under(
            policy,
            Question(name, None, (), outputs),
            {**options, "epsilon": prepared.second * share},
        )
        for outputs, share in (
            (histogram_outputs(columns), HISTOGRAM_SHARE),
            (quantile_outputs(columns), 1 - HISTOGRAM_SHARE),
        )
    )
    return bounds, plans


def _find_bounds_and_measure(
    session: Door,
    run: Run | RecalledRun,
    prepared: ProfilePlans,
    rows: Release,
    profiles: dict[str, ColumnProfile],
) -> tuple[Plan, ...]:
    """Finds bounds, adds the profiles of the columns within them; returns the later plans."""
    if prepared.first is None:
        return ()
    answer = run.release(prepared.first).answer
    new_bounds, plans = _plan_within_bounds(session, prepared, answer)
    counted, placed = (run.release(plan) for plan in plans)
    for bounds in new_bounds:
        look = next(look for look in prepared.looks if look.column == bounds.column)
        note = bounds.description[0].upper() + bounds.description[1:]
        profiles[bounds.column] = _read_column(look, rows, counted, placed, (note,))
    return plans


def _read_column(
    look: ColumnLook,
    rows: Release,
    counted: Release,
    placed: Release | None,
    notes: tuple[str, ...] = (),
) -> ColumnProfile:
    """The profile of one column, from the counts and the quantiles of all columns."""
    missing = _read_number(rows, f"{look.column} missing")
    if look.kind == "missing":
        return ColumnProfile(look.column, look.about, missing, notes=(look.why,))
    prefix = f"{look.column} in["
    counts = [
        (output.name[len(prefix) : -1], _read_number(counted, output.name))
        for output in counted.plan.outputs
        if output.name.startswith(prefix)
    ]
    if look.kind == "values":
        counts.sort(key=lambda count: -(count[1].value or 0))
        return ColumnProfile(look.column, look.about, missing, (), tuple(counts[:MAX_SHOWN]))
    assert placed is not None
    prefix = f"{look.column} at["
    outputs = [output for output in placed.plan.outputs if output.name.startswith(prefix)]
    quantiles = tuple(
        (level, _read_number(placed, output.name, output.margin_in))
        for level, output in zip(LEVELS, outputs, strict=True)
    )
    return ColumnProfile(
        look.column, look.about, missing, quantiles, tuple(counts), True, notes
    )


def _read_frequent_values(look: ColumnLook, rows: Release, answer: Release) -> ColumnProfile:
    """The most frequent values of a column, and the count that a value needs to be shown."""
    table, plan = answer.to_arrow(), answer.plan
    keys = table[plan.outputs[0].name].to_pylist()
    values, margins = table["n"].to_pylist(), table[answer.answer.margins["n"]].to_pylist()
    counts = tuple(
        (str(key), NoisyNumber(value, margin))
        for key, value, margin in zip(keys, values, margins, strict=True)
    )
    notes: tuple[str, ...] = ()
    if plan.thresholding is not None:
        who = "rows" if plan.unit is None else "people"
        notes = (
            "Values are private: a value is shown if more than about "
            f"{plan.thresholding.threshold:,} {who} have it.",
        )
        if not counts:
            notes = ("No value is common enough to be shown.", *notes)
    missing = _read_number(rows, f"{look.column} missing")
    return ColumnProfile(look.column, look.about, missing, (), counts, False, notes)


def _read_number(answer: Release, name: str, unit: str = "") -> NoisyNumber:
    table = answer.to_arrow()
    margin = table[answer.answer.margins[name]][0].as_py()
    return NoisyNumber(table[name][0].as_py(), margin, unit)
