"""Questions for declared keys alone: SELECT ward FROM visits GROUP BY ward.

The policy says which groups there are, so the answer is public: it costs nothing, and no row
is read. Such a plan has no statements and no noise, and no session takes it for release.
"""

from dataclasses import replace
from fractions import Fraction

from deniable.errors import InvalidQuery
from deniable.policy import Policy
from deniable.query.language.expressions import aggregates_in
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import TableRef
from deniable.query.plan.plan import Plan
from deniable.query.planner.draft import Draft, Request
from deniable.query.planner.notes import note_names
from deniable.query.planner.outputs import name_outputs
from deniable.query.planner.planner import find_keys, freeze
from deniable.query.relations.resolve import resolve_question

_FREE = Request(
    epsilon=Fraction(1),
    delta=Fraction(0),
    confidence=Fraction(19, 20),
    weights={},
    nonnegative=False,
    other=False,
    nulls=False,
    brackets=False,
    delta_by_default=False,
    written=False,
)


def plan_keys_alone(question: Question, policy: Policy, *, nulls: bool = False) -> Plan | None:
    """The plan of a question about one table that asks for declared keys, of all rows, and for
    nothing else; None for any other question.

    >>> from deniable.policy import Table
    >>> from deniable.query.language.parse import parse
    >>> visits = Table.declare("visits", keys={"ward": ["A", "B"]}).with_schema(
    ...     {"ward": "VARCHAR"}
    ... )
    >>> known = Policy([visits], epsilon=1)
    >>> plan_keys_alone(parse("SELECT DISTINCT ward FROM visits"), known).epsilon
    Fraction(0, 1)
    >>> plan_keys_alone(parse("SELECT ward FROM visits WHERE ward > 'A' GROUP BY ward"), known)
    """
    try:
        return _plan(question, policy, replace(_FREE, nulls=nulls))
    except (InvalidQuery, RecursionError):
        return None


def _plan(question: Question, policy: Policy, request: Request) -> Plan | None:
    if not isinstance(question.table, str | TableRef) or question.where is not None:
        return None  # which of the keys are left is said by rows
    resolved, scope = resolve_question(question, policy)
    names = note_names(question, resolved, policy)
    draft = Draft(request, resolved, scope, scope.table, names)
    parts = [named.expression for named in resolved.outputs]
    parts += [expression for expression, _ in resolved.order]
    parts += [] if resolved.having is None else [resolved.having]
    find_keys(draft)  # refuses keys that are not declared: there is no delta
    if not draft.keys or any(map(aggregates_in, parts)):
        return None
    name_outputs(draft)
    return replace(freeze(draft), epsilon=Fraction(0), delta=Fraction(0), notes=names)
