"""What the entries of a ledger say, and how they are read as charges."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from deniable.ledger.accounts import Charge, Path, charge_to_json
from deniable.ledger.journal import (
    Body,
    JournalView,
    Row,
    check_link,
    recall_key,
)
from deniable.ledger.ledger import Entry, Recalled
from deniable.query.plan.plan import Plan


def told(plan: Plan, plan_hash: str | None) -> dict[str, Any]:
    """What an entry says about a plan."""
    return {
        "delta": str(plan.delta),
        "epsilon": str(plan.epsilon),
        "plan": plan_hash,
        "tables": list(plan.tables),
    }


def written(charges: Mapping[str, Charge]) -> dict[str, Any]:
    """What an entry says about what is charged to each account."""
    return {account: charge_to_json(one) for account, one in charges.items()}


def latest(rows: Sequence[Row]) -> tuple[Row, set[str | None]] | None:
    """The latest answer to a question, and who has received it."""
    settled = [row for row in rows if row.ends is not None]
    if not settled:
        return None
    return settled[-1], who_received(settled[-1].read(), rows)


def answered(
    view: JournalView, plan_hash: str | None, version: str
) -> tuple[Row, set[str | None]] | None:
    """The latest answer to a question on some data, as it was written; and who received it."""
    if plan_hash is None:
        return None
    found = latest(view.answers(recall_key(plan_hash, version)))
    if found is not None:
        row, before = found[0], view.row(found[0].number - 1)
        check_link(row, row.number, "" if before is None else before.hash)
    return found


def recalled(answer: Body) -> Recalled:
    """An answer as it is handed out again."""
    return Recalled(answer["of"], answer["record"], answer["time"])


def who_received(answer: Body, rows: Sequence[Row]) -> set[str | None]:
    """The analysts to whom this answer, of all to the same question, was handed."""
    bodies = (row.read() for row in rows)
    return {body["analyst"] for body in bodies if _which(body) == _which(answer)}


def _which(body: Body) -> tuple[int, int]:
    return body["of"], body["place"]


def entries(row: Row) -> Iterator[Entry]:
    """The charges in an entry: one for each plan."""
    body = row.read()
    if "plans" not in body:
        return
    part = part_of(body)
    for place, plan in enumerate(body["plans"]):
        yield Entry(
            number=row.number,
            tables=tuple(plan["tables"]),
            epsilon=_exact(plan["epsilon"]),
            delta=_exact(plan["delta"]),
            state=body["kind"],
            analyst=body["analyst"],
            plan_hash=plan["plan"],
            version=body["version"],
            part=part,
            time=body["time"],
            place=place,
        )


def part_of(body: Body) -> Path:
    """The part of a partition that an entry charges, if it is one."""
    return tuple((partition, part) for partition, part in body["part"])


@lru_cache(maxsize=4096)
def _exact(amount: str) -> Fraction:
    return Fraction(amount)
