"""What a person may know about a policy, a plan and the ledger, ready for JSON.

An analyst sees the own charges only; an auditor and the owner see all. Moments in it are those
of reservations and of slots.
"""

from dataclasses import asdict
from fractions import Fraction
from typing import Any

from deniable.app.server.accounts.identity import Person
from deniable.app.server.questions.admission import check_request
from deniable.app.server.questions.question_requests import read_object, read_request
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.errors import InvalidParameter
from deniable.ledger.entries import known_as
from deniable.ledger.ledger import Entry, Ledger
from deniable.policy.written_policy import write_policy
from deniable.query.plan import canonical
from deniable.query.planner.explain import Branch
from deniable.release.asking.stages import explain_question


def describe_tables(served: ServedPolicy, person: Person) -> dict[str, Any]:
    """The policy as far as a person may use it, and how its answers are signed."""
    session = served.session
    policy = served.policy_for(person)
    own = known_as(person.name) or ""
    return {
        "name": served.name,
        "analyst": person.name,
        "policy": write_policy(policy)
        | {
            "analysts": {
                name: budget
                for name, budget in write_policy(policy)["analysts"].items()
                if name in (own, "*")
            }
        },
        "policy_hash": served.policy_hash,
        "engine": session._records.engine,
        "runs_plan_text": served.engine.runs_plan_text,
        "ledger_id": session.ledger.origin[0],
        "because": session.ledger.origin[1],
        "key": session.ledger.public_key,
        "padded": served.padded,
    }


def explain_request(served: ServedPolicy, person: Person, body: bytes) -> dict[str, Any]:
    """What would be asked, at which price. Nothing is spent or read."""
    request = read_request(body)
    own = served.session_for(person.name)
    plans = check_request(served, person, request, own)
    session = request.about(own)
    explanation: dict[str, Any] = {
        "epsilon": str(sum((plan.epsilon for plan in plans), Fraction(0))),
        "delta": str(sum((plan.delta for plan in plans), Fraction(0))),
        "plan_hashes": [canonical.plan_form(plan)[1] for plan in plans],
    }
    if request.kind == "question":
        question = request.questions[0]
        tree = explain_question(session, question["sql"], request.ask_options(question))
        explanation |= {"tree": _write_branch(tree), "text": str(tree)}
    if len(plans) == 1:
        path = session.rows.path
        explanation["how_many"] = session.ledger.how_many(plans[0], person.name, part=path)
    return explanation


def _write_branch(branch: Branch) -> list[Any]:
    return [branch.text, [_write_branch(below) for below in branch.below]]


def read_budget_request(body: bytes) -> dict[str, Any]:
    """For which tables, and which part of one, the remainder is asked."""
    request = read_object(body)
    tables, part, touches = (
        request.get("tables"),
        request.get("part", []),
        request.get("touches", 1),
    )
    names = tables is None or (
        isinstance(tables, list) and all(isinstance(name, str) for name in tables)
    )
    path = isinstance(part, list) and all(
        isinstance(step, list)
        and len(step) == 2
        and all(isinstance(name, str) for name in step)
        for step in part
    )
    if set(request) - {"tables", "part", "touches"} or not (names and path):
        raise InvalidParameter("A budget is asked for with `tables`, `part` and `touches`.")
    if touches not in (1, 2) or isinstance(touches, bool):
        raise InvalidParameter("`touches` must be 1 or 2.")
    steps = tuple((partition, key) for partition, key in part)
    return {"tables": tables, "part": steps, "touches": touches}


def describe_head(ledger: Ledger) -> dict[str, Any]:
    """The signed end of the ledger."""
    return asdict(ledger.head)


def describe_entries(
    served: ServedPolicy, person: Person, whose: str | None
) -> list[dict[str, Any]]:
    """The charges of one person, of all for None: those for tables that are there for who
    asks."""
    own = known_as(whose)
    return [
        _write_entry(entry)
        for entry in served.session.ledger.entries
        if (whose is None or known_as(entry.analyst) == own)
        and person.may_read(served.name, entry.tables)
    ]


def _write_entry(entry: Entry) -> dict[str, Any]:
    return asdict(entry) | {"epsilon": str(entry.epsilon), "delta": str(entry.delta)}
