"""The caller's question and options become a plan: at a price (epsilon) or at an accuracy."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.suggestions import suggest
from deniable.policy import Policy
from deniable.query.language.parse import parse
from deniable.query.language.question import Question
from deniable.query.language.within_clause import split_within_clause
from deniable.query.plan.plan import Plan
from deniable.query.planner.accuracy import MarginGoal, plan_for_goal
from deniable.query.planner.for_population import (
    NOTE,
    measure_for_population,
    refuse_accuracy,
    split_population_clause,
)
from deniable.query.planner.planner import plan

_PRICES = ("epsilon", "margin", "relative", "of", "bounds")
_REST = (
    "delta",
    "confidence",
    "weights",
    "nonnegative",
    "other",
    "nulls",
    "brackets",
    "written",
    "level",
)


def make_plan(
    question: str | Question,
    policy: Policy,
    *,
    epsilon: Any = None,
    margin: Any = None,
    relative: Any = None,
    of: Any = None,
    bounds: Any = None,
    **options: Any,
) -> Plan:
    """The plan for a question in SQL or built in Python, at its price or at its accuracy.

    >>> from deniable.policy import Table
    >>> policy = Policy([Table("visits").with_schema({"ward": "VARCHAR"})], epsilon=3)
    >>> text = "SELECT COUNT(*) AS n FROM visits"
    >>> make_plan(text, policy, margin=50) == make_plan(text + " WITHIN 50", policy)
    True
    """
    _check_options(question, options)
    if bounds is not None:
        raise InvalidParameter(
            "Finding `bounds` takes a plan of its own, before the answer's: `explain` shows "
            "both, `sql` and `release` run them."
        )
    population = False
    if isinstance(question, str):
        question, population = split_population_clause(question)
        question, clause = split_within_clause(question)
        if clause is not None:
            if margin is not None or relative is not None:
                raise InvalidParameter("The question ends with WITHIN: leave out `margin`.")
            share = clause.of is not None
            relative, of = (clause.margin, clause.of) if share else (None, of)
            margin = None if share else clause.margin
            if clause.confidence is not None:
                options["confidence"] = clause.confidence
        question = parse(question)
    _check_one_of(epsilon, margin, relative, of)
    if population:
        return _plan_for_population(question, policy, epsilon, options)
    if epsilon is not None:
        return plan(question, policy, epsilon=epsilon, **options)
    goal = MarginGoal.of(margin) if relative is None else MarginGoal.relative(relative, of)
    return plan_for_goal(question, policy, goal, **options)


def _plan_for_population(
    question: Question, policy: Policy, epsilon: Any, options: dict[str, Any]
) -> Plan:
    if epsilon is None:
        raise refuse_accuracy()
    question, options = measure_for_population(question, policy, options)
    population_plan = plan(question, policy, epsilon=epsilon, **options)
    return replace(population_plan, notes=(*population_plan.notes, NOTE))


def _check_options(question: object, options: Mapping[str, Any]) -> None:
    """Refuses what is not a question, and unknown options."""
    if not isinstance(question, str | Question):
        raise InvalidQuery(
            "A question is SQL text, such as SELECT COUNT(*) FROM data, or is built with "
            f"table(...).agg(...). Found {type(question).__name__}."
        )
    for name in options:
        if name not in _REST:
            raise InvalidParameter(
                f"Unknown option `{name}`. "
                + suggest(name, (*_PRICES, *_REST[:-2]), "Options are")
            )
    weights = options.get("weights")
    if weights is not None and not isinstance(weights, Mapping):
        raise InvalidParameter(
            "`weights` say which outputs should be more accurate, by name, as in "
            f'weights={{"n": 2}}. Found {weights!r}.'
        )


def _check_one_of(epsilon: Any, margin: Any, relative: Any, of: Any) -> None:
    given = [value for value in (epsilon, margin, relative) if value is not None]
    if len(given) != 1:
        raise InvalidParameter(
            "Give either a price or an accuracy: one of `epsilon=0.5`, `margin=50` and "
            "`relative=0.05, of=10_000`. Found "
            f"{'none of them' if not given else 'more than one'}."
        )
    if of is not None and relative is None:
        raise InvalidParameter("`of` is the size that a `relative` margin is relative to.")
