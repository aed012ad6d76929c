"""Questions with a constant that is itself released: WHERE salary > (SELECT AVG(salary) ...).

The constant is released first, cut to its public range; if it is not defined, the middle of
the range stands for it. Then it takes the place of its sub-query, and the rest is answered.
Both are steps of one run: the ledger is charged before the first is run. The second plan is
made and checked beforehand, with several numbers of the range in place of the constant.
Later only this number changes, and the plan is checked again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidQuery
from deniable.exact.rationals import decimal_text, positive
from deniable.exact.text_formats import percent
from deniable.query.outer.constant_parts import find_constants, put_constants
from deniable.query.plan.plan import Plan
from deniable.query.planner.explain import Branch, explain
from deniable.release.answer.formatting import format_with_margin
from deniable.release.session.door import Door
from deniable.release.session.release import Release

_DIGITS = 9  # of the constant that is used


@dataclass(frozen=True, slots=True)
class StagedPlan:
    """The plans of the constants, and of the question with the middle of their ranges."""

    text: str
    constants: Mapping[str, Plan]  # by their SQL
    middle: Plan
    options: Mapping[str, Any]  # of the last stage
    request: Mapping[str, Any]  # the question and its options as they were given

    @property
    def plans(self) -> tuple[Plan, ...]:
        """What is charged: one plan for each step."""
        return (*self.constants.values(), self.middle)


def plan_stages(
    session: Door, text: str, options: Mapping[str, Any], refusal: InvalidQuery
) -> StagedPlan:
    """The plan of a question with constants of its own; else raises the refusal again."""
    if options.get("epsilon") is None or options.get("bounds") is not None:
        raise refusal
    ranges: dict[str, tuple[Fraction, Fraction]] = {}

    def ask(part: str) -> None:
        ranges[part] = _public_range(session.plan(part, **options))

    parts = find_constants(text, ask)
    if not parts:
        raise refusal
    share = positive(options["epsilon"], "epsilon") / (len(parts) + 1)
    own: dict[str, Any] = {**options, "epsilon": share}
    if options.get("delta"):
        own["delta"] = Fraction(str(options["delta"])) / (len(parts) + 1)
    first = {name: own[name] for name in ("epsilon", "delta", "confidence") if name in own}
    constants = {part: session.plan(part, **first) for part in parts}
    middles = {part: _middle(ranges[part]) for part in parts}
    middle = session.plan(put_constants(text, middles), **own)
    own["delta"] = middle.delta
    for choose in (_low, _high, _nearest_to_zero, _with_all_digits):
        chosen = put_constants(text, {part: choose(*ranges[part]) for part in parts})
        session.check(session.plan(chosen, **own))
    request = {"question": text, "options": options}
    return StagedPlan(text, constants, middle, own, request)


def _public_range(plan: Plan) -> tuple[Fraction, Fraction]:
    """The public range of a plan that releases one number."""
    only = plan.outputs[0]
    if len(plan.outputs) > 1 or plan.keys or only.kind != "number":
        raise InvalidQuery("A sub-query for a single value selects one number.")
    if only.low is None or only.high is None:
        raise InvalidQuery(f"{only.about} has no public range, so it cannot be a constant.")
    return only.low, only.high


def _low(low: Fraction, high: Fraction) -> Fraction:
    return low


def _high(low: Fraction, high: Fraction) -> Fraction:
    return high


def _nearest_to_zero(low: Fraction, high: Fraction) -> Fraction:
    """A division by it may be impossible."""
    return min(max(Fraction(0), low), high)


def _with_all_digits(low: Fraction, high: Fraction) -> Fraction:
    """As most released numbers are: groups of whole numbers may be impossible with it."""
    inside = float(low + (high - low) * Fraction("0.381966011"))
    return min(max(Fraction(f"{inside:.{_DIGITS}g}"), low), high)


def _middle(ends: tuple[Fraction, Fraction]) -> Fraction:
    return (ends[0] + ends[1]) / 2


def _constant(release: Release, plan: Plan) -> Fraction:
    """The released number within its range; the middle of the range if it is not defined."""
    low, high = _public_range(plan)
    value = release.answer.table[release.columns[0]][0].as_py()
    if value is None or not math.isfinite(value):
        return _middle((low, high))
    return min(max(Fraction(f"{value:.{_DIGITS}g}"), low), high)


def release_stages(
    session: Door, steps: StagedPlan, *, fresh: bool, question_id: str | None
) -> Release:
    """Releases the constants, puts them into the question and answers it."""
    whole = sum((plan.epsilon for plan in steps.plans), Fraction(0))
    how: dict[str, Any] = {"fresh": fresh, "question_id": question_id, "purpose": steps.request}
    with session.run_like(steps.plans, **how) as run:
        values, notes = {}, []
        for part, plan in steps.constants.items():
            release = run.release(plan)
            values[part] = _constant(release, plan)
            notes.append(
                f"({part}) was released first and used as {_show(release, values[part])}. It "
                f"took epsilon {decimal_text(plan.epsilon)} of {decimal_text(whole)}. The "
                "margins of the answer are those of the question with this constant."
            )
        last = session.plan(put_constants(steps.text, values), **steps.options)
        return run.release(replace(last, notes=(*last.notes, *notes)))


def _show(release: Release, value: Fraction) -> str:
    """The constant with its margin, if that is in its own unit."""
    names = list(release.answer.margins.values())
    if release.units or not names:
        return f"{float(value):,.6g}"
    return format_with_margin(float(value), release.answer.table[names[0]][0].as_py())


def explain_stages(session: Door, steps: StagedPlan) -> Branch:
    """What `release_stages` would do."""
    whole = sum((plan.epsilon for plan in steps.plans), Fraction(0))
    first = [
        Branch(
            f"{percent(round(float(plan.epsilon / whole), 4))} of epsilon releases {part}, "
            f"between {decimal_text(_public_range(plan)[0])} and "
            f"{decimal_text(_public_range(plan)[1])}",
            explain(plan).below,
        )
        for part, plan in steps.constants.items()
    ]
    checked = Branch(f"checked: {session.describe_check(steps.middle)}")
    last = Branch(
        f"{percent(round(float(steps.middle.epsilon / whole), 4))} of epsilon answers with the "
        "released value in its place (here the middle of its range)",
        (*explain(steps.middle).below, checked),
    )
    return Branch(
        f"Answer at epsilon {decimal_text(whole)}, in {len(steps.plans)} steps",
        (*first, last),
    )
