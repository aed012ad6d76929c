"""A question in one plan, or in two: the first finds bounds that nobody declared.

Both go through the session's one door. The price of the whole is known before the first step,
and refused if the ledger would not grant it. What was answered before is free there, too.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.exact.rationals import positive
from deniable.query.language.decimal_text import plain
from deniable.query.language.parse import parse
from deniable.query.language.question import Question
from deniable.query.language.within_clause import within
from deniable.query.plan.plan import Plan
from deniable.query.planner.accuracy import predicted
from deniable.query.planner.bounds import (
    SHARE,
    Search,
    bounded,
    search,
)
from deniable.query.planner.explain import Branch, explain
from deniable.release.answer.answer import Answer
from deniable.release.session.door import Door
from deniable.release.session.release import Release


def release_question(
    session: Door,
    question: str | Question,
    wishes: Mapping[str, Any],
    *,
    fresh: bool = False,
) -> Release:
    """The answer: one plan, or bounds first and then the answer within them."""
    if wishes.get("bounds") is None:
        made = session.plan(question, **wishes)
        try:
            return session.release(made, fresh=fresh)
        except BudgetExhausted as refused:
            if wishes.get("epsilon") is None:
                raise _explain_refusal(session, question, made, wishes, refused) from None
            raise
    asked, step, first, rest = _plan_search(session, question, wishes)
    # Whatever is found, the answer costs this epsilon and at most this delta; and what is
    # wrong with the question is seen before anything is spent.
    widest = bounded(session.policy, first.table, step.widest)
    wide = session.plan_under(widest, asked, rest)
    whole = first.epsilon + wide.epsilon
    told = (
        f"Finding bounds took {_percent(SHARE)} of the budget: epsilon {plain(first.epsilon)} "
        f"of {plain(whole)}."
    )

    def second(answer: Answer) -> Plan:
        table = answer.table
        found = step.read(first, [table[one.name][0].as_py() for one in first.outputs])
        policy = bounded(session.policy, first.table, found)
        made = session.plan_under(policy, asked, {**rest, "delta": wide.delta})
        return replace(made, notes=(*made.notes, told, *(one.words for one in found)))

    kept = None if fresh else session.recall_answer(first)
    then = wide if kept is None else second(kept)
    if not session.affords((first, then), fresh=fresh):
        raise BudgetExhausted(
            f"Bounds and answer cost epsilon {plain(whole)} together, and {session.remaining} "
            "are left. Nothing was spent and nothing was read."
        )
    return session.release(second(session.release(first, fresh=fresh).answer), fresh=fresh)


def explain_question(session: Door, question: str | Question, wishes: Mapping[str, Any]) -> Branch:
    """What would be done, in one step or in two."""
    if wishes.get("bounds") is None:
        return explain(session.plan(question, **wishes))
    _, step, first, rest = _plan_search(session, question, wishes)
    names = ", ".join(step.ends)
    whole = first.epsilon + rest["epsilon"]
    return Branch(
        f"Answer at epsilon {plain(whole)}, in two steps",
        (
            Branch(
                f"{_percent(SHARE)} finds bounds of {names}: epsilon {plain(first.epsilon)}",
                (
                    *(Branch(one) for one in step.words(first)),
                    *(one for one in explain(first).below if one.text.startswith("one unit ")),
                ),
            ),
            Branch(
                f"{_percent(1 - SHARE)} answers within them: epsilon {plain(rest['epsilon'])}",
                (
                    Branch("margins grow with the bounds found, so they are not known yet"),
                    Branch("what lies beyond the bounds is clipped, which no margin covers"),
                ),
            ),
        ),
    )


def _plan_search(
    session: Door, question: str | Question, wishes: Mapping[str, Any]
) -> tuple[Question, Search, Plan, dict[str, Any]]:
    """The question, the search for bounds, its plan, and what is wished of the second."""
    rest = {key: one for key, one in wishes.items() if key != "bounds" and one is not None}
    if "epsilon" not in rest or {"margin", "relative", "of"} & set(rest):
        raise InvalidParameter(
            "Margins grow with bounds that are not known yet: with `bounds` give `epsilon`, "
            "not a margin."
        )
    asked = parse(question) if isinstance(question, str) else question
    epsilon = positive(rest["epsilon"], "epsilon")
    beyond = math.ceil(2 / (epsilon * (1 - SHARE)))
    paid: dict[str, Any] = {"epsilon": epsilon * SHARE, "delta": 0}
    step = search(asked, session.policy, wishes["bounds"], beyond=beyond)
    first = session.plan(step.question, **paid)
    if step.levels:
        ranks = max(one.margin or 0.0 for one in first.outputs if one.margin_in == "ranks")
        beyond = max(beyond, math.ceil(1.5 * ranks))
        step = search(asked, session.policy, wishes["bounds"], beyond=beyond)
        first = session.plan(step.question, **paid)
    return asked, step, first, {**rest, "epsilon": epsilon - epsilon * SHARE}


def _explain_refusal(
    session: Door,
    question: str | Question,
    made: Plan,
    wishes: Mapping[str, Any],
    refused: BudgetExhausted,
) -> BudgetExhausted:
    """Says what a margin would cost if that is more than is left, and what is still had."""
    left = session.remaining
    if made.epsilon <= left.epsilon:
        return refused
    told = next(one for one in made.notes if one.startswith("Asked for "))
    rest = "Nothing is left."
    if left.epsilon > 0:
        bare = within(question)[0] if isinstance(question, str) else question
        wished = {k: one for k, one in wishes.items() if k not in ("margin", "relative", "of")}
        best = session.plan(
            bare, **{**wished, "epsilon": left.epsilon, "confidence": made.confidence}
        )
        margins = [
            f"{one.name} ± {predicted(one):,.6g}"
            for one in best.outputs
            if predicted(one) is not None
        ]
        rest = f"What is left, {left}, buys {', '.join(margins[:8])}."
    return BudgetExhausted(
        f"Impossible within your budget. {told}\n  {rest} Nothing was spent and nothing was "
        "read."
    )


def _percent(share: Fraction) -> str:
    return f"{100 * float(share):g} %"
