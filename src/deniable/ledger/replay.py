"""How each entry changes the ledger's sums: the same function writes and checks a ledger."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deniable.errors import LedgerBroken
from deniable.ledger.accounts import (
    Accounts,
    Amount,
    charge_from_json,
    fraction_from_json,
    round_up,
)
from deniable.ledger.amendments import amendment
from deniable.ledger.charges import exact_sum
from deniable.ledger.journal import (
    Body,
    JournalAnchor,
    JournalRow,
    check_end,
    check_link,
    digest,
    lookup_keys,
    reservation_id,
)
from deniable.ledger.ledger import Head, VerifiedLedger
from deniable.ledger.signing_keys import signature_is_valid
from deniable.ledger.terms import Terms
from deniable.query.plan.canonical import canonical_text

FORMAT = 1
_SIDES = "epsilon", "delta"


@dataclass(slots=True)
class LedgerState:
    """The sums, and the number of the entry that holds the terms in force."""

    accounts: Accounts = field(default_factory=Accounts)
    terms: int = 0

    def apply(self, number: int, body: Body) -> None:
        """Adds an entry to the sums."""
        if body["kind"] in ("opened", "amended"):
            self.terms = number
        if "charges" in body:
            charges = {
                account: charge_from_json(charge) for account, charge in body["charges"].items()
            }
            path = tuple((partition, part) for partition, part in body["part"])
            self.accounts.charge(charges, path, body["touches"])

    def copy(self) -> "LedgerState":
        """An independent copy."""
        return LedgerState.from_json(self.to_json())

    def to_json(self) -> dict[str, Any]:
        return {"accounts": self.accounts.to_json(), "terms": self.terms}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "LedgerState":
        return cls(Accounts.from_json(read["accounts"]), read["terms"])


def first_over_limit(
    accounts: Accounts, terms: Terms, charged: Iterable[str], day: datetime.date
) -> str | None:
    """The first charged account whose filters are all over their limits, or None."""
    for account in charged:
        if not accounts.fits(account, terms.limits(account, day)):
            return account
    return None


def grant_day(body: Body) -> datetime.date:
    """The day whose limits apply to an entry: the day in the entry."""
    return datetime.datetime.fromisoformat(body["time"]).date()


def _charge_fault(body: Body, terms: Terms) -> str | None:
    """What is wrong with an entry's charges, by what the entry says about its plans.

    Exactly the accounts of its plans are charged, in every filter. In the pure filter the plans
    cost the sum of their prices. Plans that are priced together at a delta cost that delta, and
    an epsilon that cannot be checked without the plans.
    """
    owed: dict[str, list[Any]] = {}
    for plan in body["plans"]:
        read = (
            ()
            if body["kind"] == "repeated"
            else terms.accounts_of_tables(tuple(plan["tables"]))
        )
        for account in (*read, *terms.analyst_account(body["analyst"])):
            owed.setdefault(account, []).append(plan)
    if set(owed) != set(body["charges"]):
        return "does not charge the accounts of its plans"
    for account, plans in owed.items():
        charge = charge_from_json(body["charges"][account])
        if set(charge) != set(terms.filters):
            return f"does not charge {account} in every filter"
        if any(amount is not None and min(amount) < 0 for amount in charge.values()):
            return f"refunds a charge to {account}"
        price = [
            round_up(exact_sum(fraction_from_json(plan[side]) for plan in plans))
            for side in _SIDES
        ]
        pure, delta = charge["pure"], body.get("together")
        right = pure == Amount(*price) if delta is None else _is_tight_price(pure, delta)
        if not right:
            return f"does not charge {account} what its plans cost"
    return None


def _is_tight_price(pure: Amount | None, delta: str) -> bool:
    return (
        pure is not None
        and pure.amount > 0
        and pure.slack == round_up(fraction_from_json(delta))
    )


class Replay:
    """Checks a ledger entry by entry, and stops at the first one that cannot be valid."""

    def __init__(self, public: str, heads: Sequence[Head] = ()) -> None:
        self._public = public
        self._state, self._terms = LedgerState(), Terms({})
        self._hash, self._count = "", 0
        self._open: set[str] = set()
        self._heads_to_find: dict[int, list[Head]] = {}
        for head in heads:
            if not signature_is_valid(head.message, head.signature, public):
                raise LedgerBroken(
                    f"The earlier head {head.number} was not signed by this ledger's key."
                )
            self._heads_to_find.setdefault(head.number, []).append(head)

    def add(self, row: JournalRow) -> None:
        """Checks one entry and adds it to the sums."""
        number = self._count
        check_link(row, number, self._hash)
        try:
            body = row.read()
            if (row.ends, row.recall) != lookup_keys(body):
                raise LedgerBroken(f"Entry {number} was changed: its index columns are wrong.")
            self._step(number, body)
        except (KeyError, ValueError, TypeError, AttributeError) as problem:
            kind = type(problem).__name__
            raise LedgerBroken(f"Entry {number} cannot be read ({kind}).") from None
        self._hash, self._count = row.hash, number + 1
        for head in self._heads_to_find.pop(number, []):
            state = digest(canonical_text(self._state.to_json()))
            if (head.hash, head.state) != (row.hash, state):
                raise LedgerBroken(
                    f"Entry {number} is not the one that an earlier head signed."
                )

    def _step(self, number: int, body: dict[str, Any]) -> None:
        kind = body["kind"]
        if (kind == "opened") != (number == 0):
            raise LedgerBroken(
                f"Entry {number} is of kind {kind!r}: entry 0, and only that, opens a ledger."
            )
        if kind == "opened" and (body["key"], body["format"]) != (self._public, FORMAT):
            raise LedgerBroken("The ledger was opened with another key, or by a later version.")
        if kind in ("opened", "amended"):
            terms = Terms.from_json(body["terms"])
            if kind == "amended":
                right = amendment(self._terms, terms, body.get("because", ""))
                if right["terms"] != body["terms"]:
                    raise LedgerBroken(f"Entry {number} drops tables of earlier terms.")
                if right.get("gives") != body.get("gives"):
                    raise LedgerBroken(f"Entry {number} gives away more than it says.")
            self._terms = terms
        elif kind == "reserved":
            self._open.update(reservation_id(number, i) for i in range(len(body["plans"])))
        elif kind in ("settled", "failed"):
            ended = reservation_id(body["of"], body["place"])
            if ended not in self._open:
                raise LedgerBroken(f"Entry {number} ends a charge that is not open.")
            self._open.remove(ended)
        elif kind != "repeated":
            raise LedgerBroken(f"Entry {number} is of an unknown kind.")
        charged = body.get("charges", ())
        if charged != () and (wrong := _charge_fault(body, self._terms)) is not None:
            raise LedgerBroken(f"Entry {number} {wrong}.")
        self._state.apply(number, body)
        over = first_over_limit(self._state.accounts, self._terms, charged, grant_day(body))
        if over is not None:
            raise LedgerBroken(
                f"Entry {number} was granted, but the budget of {over} was used up."
            )

    def finish(self, anchor: JournalAnchor) -> VerifiedLedger:
        """Checks the anchor against the replayed entries."""
        check_end(self._count - 1, self._hash, anchor)
        if anchor.state != canonical_text(self._state.to_json()):
            raise LedgerBroken("The sums in the head are not the sums of the entries.")
        if not signature_is_valid(anchor.head.message, anchor.signature, self._public):
            raise LedgerBroken("The head is not signed by this ledger's key.")
        if self._heads_to_find:
            first = min(self._heads_to_find)
            raise LedgerBroken(
                f"The ledger ends at entry {self._count - 1}, but an earlier head signed entry "
                f"{first}: the ledger was set back."
            )
        return VerifiedLedger(self._count, anchor.head, 0)


def replay_ledger(
    rows: Iterable[JournalRow], anchor: JournalAnchor, public: str, heads: Sequence[Head] = ()
) -> VerifiedLedger:
    """Checks a whole ledger."""
    replay = Replay(public, heads)
    for row in rows:
        replay.add(row)
    verified = replay.finish(anchor)
    return VerifiedLedger(verified.entries, verified.head, len(heads))
