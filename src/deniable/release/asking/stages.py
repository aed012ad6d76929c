"""Answers a question with one plan, or with two: the first finds bounds that are not declared.

Both are steps of one run: the ledger is charged once for both, before the first one is run. If
the bounds were found before, only the second plan is charged.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deniable.errors import AnswerWarning, BudgetExhausted, InvalidParameter, InvalidQuery
from deniable.exact.rationals import decimal_text, positive
from deniable.exact.text_formats import percent
from deniable.query.language.parse import parse
from deniable.query.language.question import Question
from deniable.query.language.within_clause import split_within_clause
from deniable.query.plan.plan import Plan
from deniable.query.planner.accuracy import predicted_margin
from deniable.query.planner.bounds_search import (
    SEARCH_SHARE,
    BoundsSearch,
    prepare_search,
    with_bounds,
)
from deniable.query.planner.explain import Branch, explain
from deniable.query.planner.for_population import split_population_clause
from deniable.query.planner.notes import WARNING
from deniable.release.answer.answer_table import Answer
from deniable.release.asking.free_keys import answer_keys_alone, explain_keys_alone
from deniable.release.session.door import Door
from deniable.release.session.release import Release

if TYPE_CHECKING:  # most questions have one private part, and need neither
    from deniable.release.asking.outer_question import OuterPlan
    from deniable.release.asking.two_stages import StagedPlan


def release_question(
    session: Door,
    question: str | Question,
    options: Mapping[str, Any],
    *,
    fresh: bool = False,
    question_id: str | None = None,
) -> Release:
    """Answers a question in one step; or finds bounds first and answers within them."""
    if options.get("bounds") is not None:
        arguments = {"fresh": fresh, "question_id": question_id}
        return _release_in_two_steps(session, question, options, **arguments)  # type: ignore[arg-type]
    try:
        plan = session.plan(question, **options)
    except (InvalidQuery, InvalidParameter) as refusal:
        keys = answer_keys_alone(session, question, options, refusal)
        if keys is not None:
            return keys
        if not isinstance(question, str) or not isinstance(refusal, InvalidQuery):
            raise
        parts_plan = _plan_parts(session, question, options, refusal)
        return _release_parts(session, parts_plan, fresh=fresh, question_id=question_id)
    for note in plan.notes:
        if note.startswith(WARNING):
            warnings.warn(note.removeprefix(WARNING), AnswerWarning, stacklevel=4)
    try:
        return session.release(plan, fresh=fresh, question_id=question_id)
    except BudgetExhausted as refusal:
        if options.get("epsilon") is None:
            raise _explain_refusal(session, question, plan, options, refusal) from None
        raise


def _plan_parts(
    session: Door, question: str, options: Mapping[str, Any], refusal: InvalidQuery
) -> "OuterPlan | StagedPlan":
    """The plan of a statement with several private parts: SQL over answers, or constants."""
    from deniable.release.asking.outer_question import plan_outer
    from deniable.release.asking.two_stages import plan_stages

    if split_population_clause(question)[1]:
        raise refusal
    try:
        try:
            return plan_outer(session, question, options, refusal)
        except InvalidQuery as problem:
            return plan_stages(session, question, options, problem)
    except RecursionError:  # too deep to be taken apart
        raise refusal from None


def _release_parts(
    session: Door,
    parts_plan: "OuterPlan | StagedPlan",
    *,
    fresh: bool,
    question_id: str | None,
) -> Release:
    from deniable.release.asking.outer_question import release_outer
    from deniable.release.asking.two_stages import StagedPlan, release_stages

    if isinstance(parts_plan, StagedPlan):
        return release_stages(session, parts_plan, fresh=fresh, question_id=question_id)
    return release_outer(session, parts_plan, fresh=fresh, question_id=question_id)


def _explain_parts(session: Door, parts_plan: "OuterPlan | StagedPlan") -> Branch:
    from deniable.release.asking.outer_question import explain_outer
    from deniable.release.asking.two_stages import StagedPlan, explain_stages

    if isinstance(parts_plan, StagedPlan):
        return explain_stages(session, parts_plan)
    return explain_outer(session, parts_plan)


def _release_in_two_steps(
    session: Door,
    question: str | Question,
    options: Mapping[str, Any],
    *,
    fresh: bool,
    question_id: str | None,
) -> Release:
    parsed, step, first, rest = _plan_search(session, question, options)
    wide = _plan_widest(session, parsed, step, first, rest)
    whole = first.epsilon + wide.epsilon
    cost_note = (
        f"Finding bounds took {percent(SEARCH_SHARE)} of the budget: epsilon "
        f"{decimal_text(first.epsilon)} of {decimal_text(whole)}."
    )

    def plan_second(answer: Answer) -> Plan:
        table = answer.table
        new_bounds = step.read(
            first, [table[output.name][0].as_py() for output in first.outputs]
        )
        policy = with_bounds(session.policy, first.table, new_bounds)
        notes = [bounds.description for bounds in new_bounds]
        try:
            plan = session.plan_under(policy, parsed, {**rest, "delta": wide.delta})
        except InvalidQuery:
            # The first step is paid for, so an answer must follow. This plan is possible.
            plan = wide
            notes.append("That is too narrow for this question: the widest bounds are used.")
        return replace(plan, notes=(*plan.notes, cost_note, *notes))

    earlier = None if fresh or question_id is not None else session.recall(first)
    if earlier is not None:  # the bounds were found, and paid for, before
        return session.release(plan_second(earlier.answer))
    request = {"question": question, "options": options}
    how: dict[str, Any] = {"fresh": fresh, "question_id": question_id, "purpose": request}
    with session.run_like((first, wide), **how) as run:
        second = plan_second(run.release(first).answer)
        try:
            return run.release(second)
        except BudgetExhausted:  # in some filter it costs more than what was reserved
            note = "Within the bounds found it would cost more: the widest bounds are used."
            return run.release(replace(wide, notes=(*wide.notes, cost_note, note)))


def plans_of_question(
    session: Door, question: str | Question, options: Mapping[str, Any]
) -> tuple[Plan, ...]:
    """The plans that `release_question` runs, or others at the same price. Nothing is spent."""
    if options.get("bounds") is not None:
        parsed, step, first, rest = _plan_search(session, question, options)
        return first, _plan_widest(session, parsed, step, first, rest)
    try:
        return (session.plan(question, **options),)
    except InvalidQuery as refusal:
        if not isinstance(question, str):
            raise
        from deniable.release.asking.two_stages import StagedPlan

        parts_plan = _plan_parts(session, question, options, refusal)
        return parts_plan.plans if isinstance(parts_plan, StagedPlan) else parts_plan.distinct


def _plan_widest(
    session: Door, parsed: Question, step: BoundsSearch, first: Plan, rest: Mapping[str, Any]
) -> Plan:
    """The second plan within the widest bounds. With any bounds the answer costs this epsilon
    and at most this delta. It also finds the faults of the question before anything is spent.
    """
    widest = with_bounds(session.policy, first.table, step.widest)
    return session.plan_under(widest, parsed, rest)


def explain_question(
    session: Door, question: str | Question, options: Mapping[str, Any]
) -> Branch:
    """What `release_question` would do, in one step or in two."""
    if options.get("bounds") is None:
        try:
            plan = session.plan(question, **options)
        except (InvalidQuery, InvalidParameter) as refusal:
            keys = explain_keys_alone(session, question, options, refusal)
            if keys is not None:
                return keys
            if not isinstance(question, str) or not isinstance(refusal, InvalidQuery):
                raise
            parts_plan = _plan_parts(session, question, options, refusal)
            return _explain_parts(session, parts_plan)
        tree = explain(plan)
        checked = Branch(f"checked: {session.describe_check(plan)}")
        return replace(tree, below=(*tree.below, checked))
    _, step, first, rest = _plan_search(session, question, options)
    names = ", ".join(step.ends)
    whole, second_epsilon = first.epsilon + rest["epsilon"], decimal_text(rest["epsilon"])
    return Branch(
        f"Answer at epsilon {decimal_text(whole)}, in two steps",
        (
            Branch(
                f"{percent(SEARCH_SHARE)} finds bounds of {names}: epsilon "
                f"{decimal_text(first.epsilon)}",
                (
                    *(Branch(line) for line in step.describe(first)),
                    *(
                        branch
                        for branch in explain(first).below
                        if branch.text.startswith("one unit ")
                    ),
                ),
            ),
            Branch(
                f"{percent(1 - SEARCH_SHARE)} answers within them: epsilon {second_epsilon}",
                (
                    Branch("margins grow with the bounds found, so they are not known yet"),
                    Branch("values beyond the bounds are clipped; no margin covers that"),
                ),
            ),
        ),
    )


def _plan_search(
    session: Door, question: str | Question, options: Mapping[str, Any]
) -> tuple[Question, BoundsSearch, Plan, dict[str, Any]]:
    """The parsed question, the search for bounds, its plan, and the second plan's options."""
    rest = {
        name: value for name, value in options.items() if name != "bounds" and value is not None
    }
    if "epsilon" not in rest or {"margin", "relative", "of"} & set(rest):
        raise InvalidParameter(
            "`bounds` needs `epsilon`, not a margin: margins grow with the bounds, and these "
            "are not known yet."
        )
    parsed = parse(question) if isinstance(question, str) else question
    epsilon = positive(rest["epsilon"], "epsilon")
    beyond = math.ceil(2 / (epsilon * (1 - SEARCH_SHARE)))
    price: dict[str, Any] = {"epsilon": epsilon * SEARCH_SHARE, "delta": 0, "brackets": False}
    step = prepare_search(parsed, session.policy, options["bounds"], beyond=beyond)
    first = session.plan(step.question, **price)
    if step.levels:
        ranks = max(
            output.margin or 0.0 for output in first.outputs if output.margin_in == "ranks"
        )
        beyond = max(beyond, math.ceil(1.5 * ranks))
        step = prepare_search(parsed, session.policy, options["bounds"], beyond=beyond)
        first = session.plan(step.question, **price)
    return parsed, step, first, {**rest, "epsilon": epsilon - epsilon * SEARCH_SHARE}


def _explain_refusal(
    session: Door,
    question: str | Question,
    plan: Plan,
    options: Mapping[str, Any],
    refusal: BudgetExhausted,
) -> BudgetExhausted:
    """Says what the requested margin would cost, and which margin the rest can pay for."""
    left = session.remaining
    if plan.epsilon <= left.epsilon:
        return refusal
    price = next(note for note in plan.notes if note.startswith("Asked for "))
    offer = "Nothing is left."
    if left.epsilon > 0:
        bare = split_within_clause(question)[0] if isinstance(question, str) else question
        others = {
            name: value
            for name, value in options.items()
            if name not in ("margin", "relative", "of")
        }
        best = session.plan(
            bare, **{**others, "epsilon": left.epsilon, "confidence": plan.confidence}
        )
        margins = [
            f"{output.name} ± {predicted_margin(output):,.6g}"
            for output in best.outputs
            if predicted_margin(output) is not None
        ]
        offer = f"What is left, {left}, pays for {', '.join(margins[:8])}."
    return BudgetExhausted(
        f"This margin costs more than your budget has left. {price}\n  {offer} Nothing was "
        "spent and nothing was read."
    )
