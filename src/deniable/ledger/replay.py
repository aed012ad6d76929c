"""What each entry of a ledger does to its sums: one function, used to write and to check."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from deniable.errors import LedgerBroken
from deniable.ledger.accounts import (
    Accounts,
    Amount,
    above,
    charge_from,
)
from deniable.ledger.charges import added
from deniable.ledger.journal import (
    Body,
    JournalAnchor,
    Row,
    check_end,
    check_link,
    digest,
    looked_up,
    reservation,
)
from deniable.ledger.ledger import Head, VerifiedLedger
from deniable.ledger.signing_keys import verified
from deniable.ledger.terms import Terms
from deniable.query.plan.canonical import text as canonical

FORMAT = 1
_SIDES = "epsilon", "delta"


@dataclass(slots=True)
class State:
    """The sums, and the number of the entry that holds the terms in force."""

    accounts: Accounts = field(default_factory=Accounts)
    terms: int = 0

    def apply(self, number: int, body: Body) -> None:
        """Takes an entry into the sums."""
        if body["kind"] in ("opened", "amended"):
            self.terms = number
        if "charges" in body:
            charges = {name: charge_from(one) for name, one in body["charges"].items()}
            path = tuple((partition, part) for partition, part in body["part"])
            self.accounts.charge(charges, path, body["touches"])

    def copy(self) -> "State":
        """As it is now."""
        return State.from_json(self.to_json())

    def to_json(self) -> dict[str, Any]:
        return {"accounts": self.accounts.to_json(), "terms": self.terms}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "State":
        return cls(Accounts.from_json(read["accounts"]), read["terms"])


def beyond(
    accounts: Accounts, terms: Terms, touched: Iterable[str], day: datetime.date
) -> str | None:
    """The first account whose filters are all exceeded; None if all is within its limits."""
    for account in touched:
        if not accounts.within(account, terms.limits(account, day)):
            return account
    return None


def granted_on(body: Body) -> datetime.date:
    """The day whose limits an entry is held to: the one that it says itself."""
    return datetime.datetime.fromisoformat(body["time"]).date()


def _wrong(body: Body, terms: Terms) -> str | None:
    """What is wrong with an entry's charges, by what it says about its plans.

    Every account that they concern is charged, and no other, in every filter. In the pure sum
    plans cost what they say, or, priced together at a delta, that delta and what only the
    plans themselves could tell.
    """
    owed: dict[str, list[Any]] = {}
    for plan in body["plans"]:
        read = () if body["kind"] == "repeated" else terms.about(tuple(plan["tables"]))
        for account in (*read, *terms.analyst(body["analyst"])):
            owed.setdefault(account, []).append(plan)
    if set(owed) != set(body["charges"]):
        return "does not charge the accounts that it concerns"
    for account, plans in owed.items():
        charge = charge_from(body["charges"][account])
        if set(charge) != set(terms.filters):
            return f"does not charge {account} in every filter"
        if any(one is not None and min(one) < 0 for one in charge.values()):
            return f"gives something back to {account}"
        sides = [above(added(Fraction(one[name]) for one in plans)) for name in _SIDES]
        pure, said = charge["pure"], body.get("together")
        right = pure == Amount(*sides) if said is None else _is_delta(pure, said)
        if not right:
            return f"does not charge {account} what its plans cost"
    return None


def _is_delta(pure: Amount | None, said: str) -> bool:
    return pure is not None and pure.amount > 0 and pure.slack == above(Fraction(said))


class Replay:
    """Goes through a ledger entry by entry; stops at the first that cannot be as written."""

    def __init__(self, public: str, heads: Sequence[Head] = ()) -> None:
        self._public = public
        self._state, self._terms = State(), Terms({})
        self._hash, self._count = "", 0
        self._open: set[str] = set()
        self._wanted: dict[int, list[Head]] = {}
        for head in heads:
            if not verified(head.message, head.signature, public):
                raise LedgerBroken(
                    f"The earlier head {head.number} was not signed by this ledger's key."
                )
            self._wanted.setdefault(head.number, []).append(head)

    def add(self, row: Row) -> None:
        """Checks one entry and takes it in."""
        number = self._count
        check_link(row, number, self._hash)
        try:
            body = row.read()
            if (row.ends, row.recall) != looked_up(body):
                raise LedgerBroken(f"Entry {number} is filed under what it does not say.")
            self._step(number, body)
        except (KeyError, ValueError, TypeError, AttributeError) as problem:
            kind = type(problem).__name__
            raise LedgerBroken(f"Entry {number} cannot be read ({kind}).") from None
        self._hash, self._count = row.hash, number + 1
        for head in self._wanted.pop(number, []):
            state = digest(canonical(self._state.to_json()))
            if (head.hash, head.state) != (row.hash, state):
                raise LedgerBroken(f"Entry {number} is not the one that an earlier head named.")

    def _step(self, number: int, body: dict[str, Any]) -> None:
        kind = body["kind"]
        if (kind == "opened") != (number == 0):
            raise LedgerBroken(f"Entry {number} opens a ledger in the middle, or none does.")
        if kind == "opened" and (body["key"], body["format"]) != (self._public, FORMAT):
            raise LedgerBroken("The ledger was opened with another key, or by a later version.")
        if kind in ("opened", "amended"):
            terms = Terms.from_json(body["terms"])
            if kind == "amended":
                self._terms.allow(terms)
                if terms != terms.after(self._terms):
                    raise LedgerBroken(f"Entry {number} forgets tables that were asked about.")
            self._terms = terms
        elif kind == "reserved":
            self._open.update(reservation(number, i) for i in range(len(body["plans"])))
        elif kind in ("settled", "failed"):
            ended = reservation(body["of"], body["place"])
            if ended not in self._open:
                raise LedgerBroken(f"Entry {number} ends a charge that is not open.")
            self._open.remove(ended)
        elif kind != "repeated":
            raise LedgerBroken(f"Entry {number} is of no known kind.")
        charged = body.get("charges", ())
        if charged != () and (wrong := _wrong(body, self._terms)) is not None:
            raise LedgerBroken(f"Entry {number} {wrong}.")
        self._state.apply(number, body)
        over = beyond(self._state.accounts, self._terms, charged, granted_on(body))
        if over is not None:
            raise LedgerBroken(f"Entry {number} was granted although {over} was used up.")

    def finish(self, anchor: JournalAnchor) -> VerifiedLedger:
        """Checks the anchor against what was replayed."""
        check_end(self._count - 1, self._hash, anchor)
        if anchor.state != canonical(self._state.to_json()):
            raise LedgerBroken("The sums kept with the head are not those of the entries.")
        if not verified(anchor.head.message, anchor.signature, self._public):
            raise LedgerBroken("The head's signature is not that of this ledger's key.")
        if self._wanted:
            first = min(self._wanted)
            raise LedgerBroken(
                f"The ledger ends at entry {self._count - 1}, but an earlier head named entry "
                f"{first}: it was set back."
            )
        return VerifiedLedger(self._count, anchor.head, 0)


def replayed(
    rows: Iterable[Row], anchor: JournalAnchor, public: str, heads: Sequence[Head] = ()
) -> VerifiedLedger:
    """Checks a whole ledger."""
    replay = Replay(public, heads)
    for row in rows:
        replay.add(row)
    found = replay.finish(anchor)
    return VerifiedLedger(found.entries, found.head, len(heads))
