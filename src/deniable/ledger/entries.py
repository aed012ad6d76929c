"""The content of a ledger's entries: how it is written and read."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from deniable.ledger.accounts import Charge, PartPath, charge_to_json, fraction_from_json
from deniable.ledger.journal import (
    Body,
    JournalRow,
    JournalView,
    check_link,
    recall_key,
)
from deniable.ledger.ledger import Entry, RecalledAnswer
from deniable.query.plan.plan import Plan


def plan_to_json(plan: Plan, plan_hash: str | None) -> dict[str, Any]:
    """A plan as an entry of the ledger describes it."""
    return {
        "delta": str(plan.delta),
        "epsilon": str(plan.epsilon),
        "plan": plan_hash,
        "tables": list(plan.tables),
    }


def charges_to_json(charges: Mapping[str, Charge]) -> dict[str, Any]:
    """The charges to each account, as an entry of the ledger lists them."""
    return {account: charge_to_json(charge) for account, charge in charges.items()}


def latest_answer(rows: Sequence[JournalRow]) -> tuple[JournalRow, set[str | None]] | None:
    """The entry with the latest answer to a question, and the analysts who received it."""
    settled = [row for row in rows if row.ends is not None]
    if not settled:
        return None
    return settled[-1], recipients(settled[-1].read(), rows)


def find_answer(
    view: JournalView, plan_hash: str | None, version: str
) -> tuple[JournalRow, set[str | None]] | None:
    """The entry with the latest answer to a plan on a version of the data, and its recipients.

    The entry's hash is checked."""
    if plan_hash is None:
        return None
    answer = latest_answer(view.answers(recall_key(plan_hash, version)))
    if answer is not None:
        row, before = answer[0], view.row(answer[0].number - 1)
        check_link(row, row.number, "" if before is None else before.hash)
    return answer


def recalled_answer(answer: Body) -> RecalledAnswer:
    """The stored answer in the body of an entry."""
    return RecalledAnswer(answer["of"], answer["record"], answer["time"])


def recipients(answer: Body, rows: Sequence[JournalRow]) -> set[str | None]:
    """The analysts who received this answer, among all entries about the same question."""
    bodies = (row.read() for row in rows)
    return {body["analyst"] for body in bodies if _paid_by(body) == _paid_by(answer)}


def _paid_by(body: Body) -> tuple[int, int]:
    return body["of"], body["place"]


def read_entries(row: JournalRow) -> Iterator[Entry]:
    """The charges in a row: one for each plan."""
    body = row.read()
    if "plans" not in body:
        return
    part = part_of(body)
    for place, plan in enumerate(body["plans"]):
        yield Entry(
            number=row.number,
            tables=tuple(plan["tables"]),
            epsilon=_fraction(plan["epsilon"]),
            delta=_fraction(plan["delta"]),
            state=body["kind"],
            analyst=body["analyst"],
            plan_hash=plan["plan"],
            version=body["version"],
            part=part,
            time=body["time"],
            place=place,
        )


def part_of(body: Body) -> PartPath:
    """The part of the table that an entry charges; () for the whole table."""
    return tuple((partition, part) for partition, part in body["part"])


@lru_cache(maxsize=4096)
def _fraction(amount: str) -> Fraction:
    return fraction_from_json(amount)
