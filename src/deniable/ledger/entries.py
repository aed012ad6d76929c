"""The content of a ledger's entries: how it is written and read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter
from deniable.ledger.accounts import Charge, PartPath, charge_to_json, fraction_from_json
from deniable.ledger.charges import Priced
from deniable.ledger.journal import Body, JournalRow, JournalView, reservation_id
from deniable.ledger.ledger import Entry, RecalledAnswer
from deniable.ledger.stores.stored_rows import as_written
from deniable.policy.names import compared_name


def plan_to_json(plan: Priced, plan_hash: str | None) -> dict[str, Any]:
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


def reserved_body(
    plans: Sequence[Body],
    analyst: str | None,
    version: str,
    part: PartPath,
    touches: int,
    together: Fraction | None = None,
) -> dict[str, Any]:
    """The entry of a reservation, without its charges and its time."""
    body: dict[str, Any] = {
        "analyst": analyst,
        "kind": "reserved",
        "part": [list(step) for step in part],
        "plans": list(plans),
        "touches": touches,
        "version": version,
    }
    return body if together is None else body | {"together": str(together)}


def repeated_body(plan: Priced, answer: Body, analyst: str | None) -> dict[str, Any]:
    """The entry of an analyst who pays for an answer that was released before."""
    return {
        "analyst": analyst,
        "kind": "repeated",
        "of": answer["of"],
        "part": [],
        "place": answer["place"],
        "plan": answer["plan"],
        "plans": [plan_to_json(plan, answer["plan"])],
        "touches": 1,
        "version": answer["version"],
    }


@as_written()
def end_reservation(
    view: JournalView, entry: Entry, how: Body, record: str | None
) -> tuple[tuple[Body, ...], None]:
    """Records the one outcome of a reservation, with the answer if it is to be kept."""
    row = view.row(entry.number)
    reserved = {} if row is None else row.read()
    plans = reserved["plans"] if reserved.get("kind") == "reserved" else ()
    if not 0 <= entry.place < len(plans):
        raise InvalidParameter(f"This ledger has no entry {entry.number}.")
    ending = view.ending(reservation_id(entry.number, entry.place))
    if ending is not None:
        raise InvalidParameter(f"Entry {entry.number} is already {ending.read()['kind']}.")
    body = {**how, "of": entry.number, "place": entry.place}
    plan_hash = plans[entry.place]["plan"]
    if record is not None and plan_hash is not None:
        request = {name: reserved[name] for name in ("analyst", "version")}
        body |= {"plan": plan_hash, "record": record} | request
    return (body,), None


@as_written()
def recalled_answer(answer: Body) -> RecalledAnswer:
    """The stored answer in the body of an entry."""
    return RecalledAnswer(answer["of"], answer["record"], answer["time"])


def recipients(answer: Body, bodies: Iterable[Body]) -> set[str | None]:
    """The analysts who received this answer, among all entries about the same question."""
    names = {body["analyst"] for body in bodies if _paid_by(body) == _paid_by(answer)}
    return set(map(known_as, names))


def known_as(analyst: str | None) -> str | None:
    """The name by which an analyst is compared; of an older entry, perhaps as it is spelt."""
    try:
        return None if analyst is None else compared_name(analyst)
    except ValueError:  # of format 1, which knew no limits
        return analyst


def _paid_by(body: Body) -> tuple[Any, Any]:
    return body.get("of"), body.get("place")


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
            epsilon=fraction_from_json(plan["epsilon"]),
            delta=fraction_from_json(plan["delta"]),
            state=body["kind"],
            analyst=body["analyst"],
            plan_hash=plan["plan"],
            version=body["version"],
            part=part,
            time=body["time"],
            place=place,
        )


@as_written()
def list_charges(rows: Iterable[JournalRow]) -> tuple[Entry, ...]:
    """Every charge, and how it ended."""
    entries: dict[str, Entry] = {}
    for row in rows:
        for entry in read_entries(row):
            entries[reservation_id(entry.number, entry.place)] = entry
        if row.ends is not None and row.ends_a_charge:
            body = row.read()
            how = {"state": body["kind"], "reference": body.get("reference")}
            entries[row.ends] = replace(entries[row.ends], **how)
    return tuple(entries.values())


def part_of(body: Body) -> PartPath:
    """The part of the table that an entry charges; () for the whole table."""
    return tuple((partition, part) for partition, part in body["part"])
