"""A question and what is wished of its answer, into a plan: by epsilon or by margin."""

from collections.abc import Mapping
from typing import Any

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.policy import Policy
from deniable.policy.suggestions import nearest
from deniable.query.language.parse import parse
from deniable.query.language.question import Question
from deniable.query.language.within_clause import within
from deniable.query.plan.plan import Plan
from deniable.query.planner.accuracy import Goal, least
from deniable.query.planner.planner import plan

_PRICES = ("epsilon", "margin", "relative", "of", "bounds")
_REST = ("delta", "confidence", "weights", "nonnegative", "other", "written")


def planned(
    question: str | Question,
    policy: Policy,
    *,
    epsilon: Any = None,
    margin: Any = None,
    relative: Any = None,
    of: Any = None,
    bounds: Any = None,
    **wishes: Any,
) -> Plan:
    """The plan for a question in SQL or built in Python, at its price or at its accuracy.

    >>> from deniable.policy import Table
    >>> policy = Policy([Table("visits").with_schema({"ward": "VARCHAR"})], epsilon=3)
    >>> text = "SELECT COUNT(*) AS n FROM visits"
    >>> planned(text, policy, margin=50) == planned(text + " WITHIN 50", policy)
    True
    """
    _check_known(question, wishes)
    if bounds is not None:
        raise InvalidParameter(
            "Finding `bounds` takes a plan of its own, before the answer's: `explain` shows "
            "both, `sql` and `release` run them."
        )
    question, said = within(question) if isinstance(question, str) else (question, None)
    if said is not None:
        if margin is not None or relative is not None:
            raise InvalidParameter("The question ends with WITHIN: leave out `margin`.")
        relative, of = (said.margin, said.of) if said.of is not None else (None, of)
        margin = said.margin if said.of is None else None
        wishes |= {} if said.confidence is None else {"confidence": said.confidence}
    asked = parse(question) if isinstance(question, str) else question
    given = [one for one in (epsilon, margin, relative) if one is not None]
    if len(given) != 1:
        raise InvalidParameter(
            "An answer has a price or an accuracy, and one follows from the other: give one "
            "of `epsilon=0.5`, `margin=50` and `relative=0.05, of=10_000`. Found "
            f"{'none of them' if not given else 'more than one'}."
        )
    if of is not None and relative is None:
        raise InvalidParameter("`of` is the size that a `relative` margin is relative to.")
    if epsilon is not None:
        return plan(asked, policy, epsilon=epsilon, **wishes)
    goal = Goal.of(margin) if relative is None else Goal.relative(relative, of)
    return least(asked, policy, goal, **wishes)


def _check_known(question: object, wishes: Mapping[str, Any]) -> None:
    """Refuses what is no question, and wishes that nobody knows."""
    if not isinstance(question, str | Question):
        raise InvalidQuery(
            "A question is SQL in text, such as SELECT COUNT(*) FROM data, or built in Python. "
            f"Found {type(question).__name__}."
        )
    for word in wishes:
        if word not in _REST:
            raise InvalidParameter(
                f"`{word}` is nothing that can be asked of an answer. "
                + nearest(word, (*_PRICES, *_REST[:-1]), "What can be asked is")
            )
    weights = wishes.get("weights")
    if weights is not None and not isinstance(weights, Mapping):
        raise InvalidParameter(
            "`weights` say which outputs should be more accurate, by name, as in "
            f'weights={{"n": 2}}. Found {weights!r}.'
        )
