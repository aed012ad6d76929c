"""Questions that compute something from released groups: SQL over private answers.

The private parts are planned, checked and charged like any question, each once. The SQL above
them is parsed, checked against lists, written again and tried on made-up rows before the
charge. Then it runs in a locked process that holds the released rows and nothing else.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from deniable.engines.duckdb.rows_process import ROWS_PROCESS, RowsRefused
from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.foreign_text import printable
from deniable.exact.rationals import decimal_text, positive
from deniable.exact.text_formats import percent
from deniable.query.language.parse import parse
from deniable.query.language.sql_selects import ALL_COLUMNS
from deniable.query.language.syntax_tree import ColumnRef
from deniable.query.language.within_clause import split_within_clause
from deniable.query.outer.divide import DividedQuestion, divide
from deniable.query.plan.plan import Plan
from deniable.query.planner.explain import Branch, explain
from deniable.query.planner.planner import NO_AGGREGATE
from deniable.release.answer.answer_table import Answer
from deniable.release.asking.measured_levels import MeasuredLevels, plan_levels
from deniable.release.asking.outer_margins import compute_outer
from deniable.release.asking.outer_release import OuterRelease, outer_message, state_outer
from deniable.release.asking.outer_rows import make_up_rows, shown_table
from deniable.release.certificate.outer_certificate import OuterCertificate
from deniable.release.session.door import Door
from deniable.release.session.release import Release

_LONGEST_REASON = 300
_OF_PARTS = (NO_AGGREGATE, ALL_COLUMNS)  # refusals of a part: the first one says more


@dataclass(frozen=True, slots=True)
class OuterPlan:
    """The plans of the private parts, and the SQL over their answers."""

    divided: DividedQuestion
    plans: dict[str, Plan]
    request: Mapping[str, Any]  # the question and its options as they were given
    # The finest groups of levels that are measured one by one, by the name of their answer.
    measured: Mapping[str, MeasuredLevels] = field(default_factory=dict)

    @property
    def distinct(self) -> tuple[Plan, ...]:
        """What is charged: two private parts that are equal are one."""
        return tuple(dict.fromkeys(self.plans.values()))

    def describe(self, name: str) -> str:
        """The question of a private part."""
        for finest, levels in self.measured.items():
            if name in levels.plans:
                return f"{levels.describe(name)} of {self.divided.inner[finest]}"
        return self.divided.inner[name]


def plan_outer(
    session: Door, text: str, options: Mapping[str, Any], refusal: InvalidQuery
) -> OuterPlan:
    """The plan of a statement that is not a private question by itself.

    Raises the `refusal` again, or a better one, if it cannot be divided. Nothing is spent.
    """
    if options.get("bounds") is not None:
        raise refusal
    bare, clause = split_within_clause(text)
    within = "" if clause is None else f" {text[len(bare) :]}"
    part_plans: dict[str, Plan] = {}

    def ask(part: str) -> None:
        plan = session.plan(part + within, **options)
        if _may_name_unit(plan, part):
            units = [key.expression for key in parse(part).keys]
            if any(_is_unit(plan, key) for key in units):
                raise refusal
        part_plans[part] = plan

    try:
        divided = divide(bare, ask, refusal)
    except InvalidParameter:  # an option that fits the whole question only
        raise refusal from None
    except InvalidQuery as problem:
        if str(problem).startswith(_OF_PARTS):
            raise refusal from None
        raise
    share = _share(options, len(divided.inner))
    plans = {
        name: session.plan(part + within, **{**options, **share}) if share else part_plans[part]
        for name, part in divided.inner.items()
    }
    measured = plan_levels(session, divided, plans, options, within)
    try:
        _try_on_made_up_rows(divided, plans, measured)
    except InvalidQuery:
        if divided.wanted:
            raise
        raise refusal from None  # it says more about a question without sub-queries
    for name, levels in measured.items():
        del plans[name]
        plans.update(levels.plans)
    return OuterPlan(divided, plans, {"question": text, "options": options}, measured)


def _may_name_unit(plan: Plan, text: str) -> bool:
    """Whether a question may group by the unit: parsing it takes as long as planning it."""
    unit = plan.unit or ""
    return bool(unit) and (not unit.isidentifier() or unit.lower() in text.lower())


def _is_unit(plan: Plan, key: Any) -> bool:
    unit = (plan.unit or "").lower()
    return isinstance(key, ColumnRef) and bool(unit) and key.name.lower() == unit


def _share(options: Mapping[str, Any], parts: int) -> dict[str, Any]:
    """Each private part gets an equal share of the price."""
    if parts == 1 or options.get("epsilon") is None:
        return {}
    shared: dict[str, Any] = {"epsilon": positive(options["epsilon"], "epsilon") / parts}
    if options.get("delta"):
        shared["delta"] = Fraction(str(options["delta"])) / parts
    return shared


def _try_on_made_up_rows(
    divided: DividedQuestion, plans: Mapping[str, Plan], fitted: Container[str]
) -> None:
    tables = {name: make_up_rows(plan, fitted=name in fitted) for name, plan in plans.items()}
    try:
        shown_table(ROWS_PROCESS.query(tables, divided.outer))
    except RowsRefused as problem:
        raise InvalidQuery(
            "The SQL over the released groups cannot run. Tried on made-up rows: "
            f"{_reason(problem)}. Nothing was spent."
        ) from None


def _reason(problem: Exception) -> str:
    known = isinstance(problem, RowsRefused | InvalidQuery)
    first = str(problem).strip().split("\n")[0] if known else type(problem).__name__
    return printable(first[:_LONGEST_REASON]).rstrip(".")


def release_outer(
    session: Door, outer_plan: OuterPlan, *, fresh: bool, question_id: str | None
) -> OuterRelease:
    """Releases the private parts, and runs the SQL over their rows."""
    elsewhere: OuterRelease | None = session._answer_elsewhere(
        outer_plan, fresh=fresh, question_id=question_id
    )
    if elsewhere is not None:
        return elsewhere
    inner = _release_parts(session, outer_plan, fresh=fresh, question_id=question_id)
    try:
        answer, notes = compute_outer(outer_plan.divided, inner, outer_plan.measured)
    except Exception as problem:  # the rows are paid for: they are handed over
        why = _reason(problem)
        answer = next(iter(inner.values())).answer
        notes = (
            f"The SQL over the released rows could not be run: {why}. These are the rows of "
            "the first private part; `inner` has all of them.",
        )
    return _hand_over(session, outer_plan, inner, answer, notes)


def _release_parts(
    session: Door, outer_plan: OuterPlan, *, fresh: bool, question_id: str | None
) -> dict[str, Release]:
    """Every private part: one charge for all that were not answered before."""
    plans, distinct = outer_plan.plans, outer_plan.distinct
    if len(distinct) == 1:
        only = session.release(distinct[0], fresh=fresh, question_id=question_id)
        return dict.fromkeys(plans, only)
    releases: dict[Plan, Release] = {}
    if not fresh and question_id is None:
        answers = {plan: session.recall(plan) for plan in distinct}
        releases = {plan: part for plan, part in answers.items() if part is not None}
    new = [plan for plan in distinct if plan not in releases]
    if len(new) == 1:
        releases[new[0]] = session.release(new[0], fresh=fresh)
    elif new:
        with session.run_like(new, fresh=fresh, question_id=question_id) as run:
            releases |= {plan: run.release(plan) for plan in new}
    return {name: releases[plan] for name, plan in plans.items()}


def _hand_over(
    session: Door,
    outer_plan: OuterPlan,
    inner: dict[str, Release],
    answer: Answer,
    notes: tuple[str, ...],
) -> OuterRelease:
    last = list(inner.values())[-1]
    certificate = None
    if not session.rehearsal:
        key = session.ledger.public_key
        stated = state_outer(answer, inner, outer_plan.divided.outer, notes, key)
        certificate = OuterCertificate(stated, session.ledger.sign(outer_message(stated)))
    return OuterRelease(
        last.plan,
        answer,
        last.remaining,
        certificate=last.certificate,
        repeated=all(part.repeated for part in inner.values()),
        rehearsal=session.rehearsal,
        kept=all(part.kept for part in inner.values()),
        inner=inner,
        outer=outer_plan.divided.outer,
        outer_notes=notes,
        outer_certificate=certificate,
    )


def explain_outer(session: Door, outer_plan: OuterPlan) -> Branch:
    """What `release_outer` would do: each private part with its share, and the SQL above."""
    whole = sum((plan.epsilon for plan in outer_plan.plans.values()), Fraction(0))
    parts = []
    for name, plan in outer_plan.plans.items():
        tree = explain(plan)
        share = percent(round(float(plan.epsilon / whole), 4))
        checked = Branch(f"checked: {session.describe_check(plan)}")
        parts.append(
            Branch(
                f"private part {name}, {share} of epsilon: {outer_plan.describe(name)}",
                (*tree.below, checked),
            )
        )
    outer = Branch(
        "computed from released rows, at no cost", (Branch(outer_plan.divided.outer),)
    )
    return Branch(
        f"Answer at epsilon {decimal_text(whole)}, in "
        + ("one private part" if len(parts) == 1 else f"{len(parts)} private parts"),
        (*parts, outer),
    )
