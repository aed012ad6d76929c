"""How each entry changes the ledger's sums: the same function writes and checks a ledger."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deniable.errors import LedgerBroken
from deniable.ledger.accounts import (
    Accounts,
    Amount,
    charge_from_json,
    compared_part,
    fraction_from_json,
    migrated_accounts,
    round_up,
)
from deniable.ledger.amendments import amendment
from deniable.ledger.charges import exact_sum
from deniable.ledger.entries import part_of
from deniable.ledger.journal import (
    EMPTY,
    Body,
    Journal,
    JournalAnchor,
    JournalRow,
    check_end,
    check_link,
    digest,
    lookup_keys,
)
from deniable.ledger.ledger import Head, VerifiedLedger
from deniable.ledger.run_requests import RunReplay
from deniable.ledger.stores.ledger_formats import (
    FORMAT,
    WITHOUT_SUMS,
    head_state,
    later_format,
)
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.ledger.stores.stored_rows import as_written
from deniable.ledger.terms import Terms, migrated_terms
from deniable.query.plan.canonical import canonical_text

_SIDES = "epsilon", "delta"


@dataclass(slots=True)
class LedgerState:
    """The sums, the number of the entry that holds the terms in force, and the format."""

    accounts: Accounts = field(default_factory=Accounts)
    terms: int = 0
    format: int = FORMAT

    def apply(self, number: int, body: Body) -> None:
        """Adds an entry to the sums."""
        if body["kind"] in ("opened", "migrated"):
            self._change_format(body["format"])
        if body["kind"] in ("opened", "amended", "migrated"):
            self.terms = number
        if "charges" in body:
            charges = {
                account: charge_from_json(charge) for account, charge in body["charges"].items()
            }
            path = part_of(body)
            path = path if self.format == 1 else compared_part(path)
            self.accounts.charge(charges, path, body["touches"])

    def _change_format(self, new: int) -> None:
        if new < 1:
            raise ValueError("there is no such format")
        if new > FORMAT:
            raise later_format(new)
        if self.format < WITHOUT_SUMS <= new:
            self.accounts = migrated_accounts(self.accounts)
        self.format = new

    def copy(self) -> "LedgerState":
        """A copy that can be charged by itself."""
        return replace(self, accounts=self.accounts.copy())

    @property
    def head(self) -> str:
        """What the ledger's head says about its state: all sums in format 1, then none."""
        return canonical_text(self.to_json()) if self.format == 1 else head_state(self.format)

    def to_json(self) -> dict[str, Any]:
        named = {"format": self.format} if self.format > 1 else {}
        return {"accounts": self.accounts.to_json(), "terms": self.terms, **named}

    @classmethod
    @as_written("The ledger's checkpoint")
    def from_json(cls, read: Mapping[str, Any]) -> "LedgerState":
        return cls(Accounts.from_json(read["accounts"]), read["terms"], read.get("format", 1))


def terms_after(format_: int, terms: Terms) -> Terms:
    """The terms of a ledger of a format, after it was migrated."""
    return migrated_terms(terms) if format_ < WITHOUT_SUMS else terms


def accounts_over_limit(
    accounts: Accounts, terms: Terms, charged: Iterable[str], day: datetime.date
) -> list[str]:
    """The charged accounts whose filters are all over their limits."""
    return [
        account for account in charged if not accounts.fits(account, terms.limits(account, day))
    ]


def grant_day(body: Body) -> datetime.date:
    """The day whose limits apply to an entry: the day in the entry."""
    return datetime.datetime.fromisoformat(body["time"]).date()


def _charge_fault(body: Body, terms: Terms, *, exactly: bool) -> str | None:
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
        own = terms.analyst_account(body["analyst"], exactly=exactly)
        for account in (*read, *own):
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


def check_checkpoint_is_not_ahead(checkpoint: JournalAnchor, anchor: JournalAnchor) -> None:
    """Refuses an anchor that is older than the checkpoint of the same moment."""
    if checkpoint.number > anchor.number:
        raise LedgerBroken(
            f"The ledger was set back: it has a checkpoint at entry {checkpoint.number}, but "
            f"ends at entry {anchor.number}. Nothing was spent. Restore its latest copy."
        )


class OpenCharges:
    """The charges that have no outcome yet: one byte for each entry, so a million fit easily.

    >>> charges = OpenCharges()
    >>> charges.add(3, 2)
    >>> charges.end(3, 1), charges.end(3, 1), charges.end(3, 2), charges.end(4, 0)
    (True, False, False, False)
    """

    def __init__(self) -> None:
        self._is_open = bytearray()  # by entry: its first place
        self._further: set[tuple[int, int]] = set()  # further places, of plans charged together

    def add(self, number: int, count: int) -> None:
        """Opens the charges of an entry: one for each of its plans."""
        self._is_open.extend(bytes(number - len(self._is_open)))
        self._is_open.append(count > 0)
        self._further.update((number, place) for place in range(1, count))

    def end(self, number: int, place: int) -> bool:
        """Ends a charge; False if it is not open."""
        if place:
            is_open = (number, place) in self._further
            self._further.discard((number, place))
            return is_open
        if not 0 <= number < len(self._is_open) or not self._is_open[number]:
            return False
        self._is_open[number] = False
        return True


class Replay:
    """Checks a ledger entry by entry, and stops at the first one that cannot be valid."""

    def __init__(
        self, public: str, heads: Sequence[Head] = (), checkpoint: JournalAnchor = EMPTY
    ) -> None:
        self._public, self._checkpoint = public, checkpoint
        self._state, self._terms = LedgerState(), Terms({})
        self._hash, self._count, self._origin = "", 0, ("", "")
        self._open, self._runs = OpenCharges(), RunReplay()
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
        with as_written(f"Entry {number}"):
            body = row.read()
            if (row.ends, row.recall) != lookup_keys(body):
                raise LedgerBroken(f"Entry {number} was changed: its index columns are wrong.")
            self._step(number, body)
        self._hash, self._count = row.hash, number + 1
        for head in self._heads_to_find.pop(number, []):
            if (head.hash, head.state) != (row.hash, digest(self._state.head)):
                raise LedgerBroken(
                    f"Entry {number} is not the one that an earlier head signed."
                )
        if number == self._checkpoint.number:
            self._check_checkpoint(row)

    def _check_checkpoint(self, row: JournalRow) -> None:
        checkpoint, sums = self._checkpoint, canonical_text(self._state.to_json())
        if (checkpoint.hash, checkpoint.state) != (row.hash, sums):
            raise LedgerBroken("The sums in the checkpoint are not the sums of the entries.")
        head = checkpoint.head
        if not signature_is_valid(head.message, checkpoint.signature, self._public):
            raise LedgerBroken("The checkpoint is not signed by this ledger's key.")

    def _step(self, number: int, body: dict[str, Any]) -> None:
        kind = body["kind"]
        if (kind == "opened") != (number == 0):
            raise LedgerBroken(
                f"Entry {number} is of kind {kind!r}: entry 0, and only that, opens a ledger."
            )
        if kind == "opened" and body["key"] != self._public:
            raise LedgerBroken("The ledger was opened with another key.")
        if kind == "opened":
            self._origin = str(body.get("begun", "")), str(body.get("because", ""))
        if kind in ("opened", "amended", "migrated"):
            self._change_terms(number, body)
        elif kind == "reserved":
            self._open.add(number, len(body["plans"]))
        elif kind in ("settled", "failed"):
            if not self._open.end(body["of"], body["place"]):
                raise LedgerBroken(f"Entry {number} ends a charge that is not open.")
        elif kind not in ("repeated", "step", "answered"):
            raise LedgerBroken(f"Entry {number} is of an unknown kind.")
        if wrong := self._runs.add(number, body):
            raise LedgerBroken(f"Entry {number} {wrong}.")
        charged, exactly = body.get("charges", ()), self._state.format == 1
        if charged != () and (wrong := _charge_fault(body, self._terms, exactly=exactly)):
            raise LedgerBroken(f"Entry {number} {wrong}.")
        self._state.apply(number, body)
        over = accounts_over_limit(self._state.accounts, self._terms, charged, grant_day(body))
        if over:
            raise LedgerBroken(
                f"Entry {number} was granted, but the budget of {over[0]} was used up."
            )

    def _change_terms(self, number: int, body: dict[str, Any]) -> None:
        terms, kind = Terms.from_json(body["terms"]), body["kind"]
        if kind == "amended":
            self._check_amendment(number, terms, body)
        if kind == "migrated":
            rises = self._state.format < body["format"] >= WITHOUT_SUMS
            if not rises or terms != terms_after(self._state.format, self._terms):
                raise LedgerBroken(f"Entry {number} does more than migrate the ledger.")
        self._terms = terms

    def _check_amendment(self, number: int, terms: Terms, body: Body) -> None:
        if self._state.format == 1:  # which recorded no consent
            self._terms.check_change(terms)
            keeps, gives = self._terms.tables.keys() <= terms.tables.keys(), None
        else:
            right = amendment(self._terms, terms, body.get("because", ""))
            keeps, gives = right["terms"] == body["terms"], right.get("gives")
        if not keeps:
            raise LedgerBroken(f"Entry {number} drops tables of earlier terms.")
        if gives != body.get("gives"):
            raise LedgerBroken(f"Entry {number} gives away more than it says.")

    def finish(self, anchor: JournalAnchor) -> VerifiedLedger:
        """Checks the anchor against the replayed entries."""
        check_checkpoint_is_not_ahead(self._checkpoint, anchor)
        check_end(self._count - 1, self._hash, anchor)
        if anchor.state != self._state.head:
            raise LedgerBroken("The sums in the head are not the sums of the entries.")
        if not signature_is_valid(anchor.head.message, anchor.signature, self._public):
            raise LedgerBroken("The head is not signed by this ledger's key.")
        if self._heads_to_find:
            first = min(self._heads_to_find)
            raise LedgerBroken(
                f"The ledger ends at entry {self._count - 1}, but an earlier head signed entry "
                f"{first}: the ledger was set back."
            )
        return VerifiedLedger(self._count, anchor.head, 0, *self._origin)


def replay_ledger(
    rows: Iterable[JournalRow],
    anchor: JournalAnchor,
    public: str,
    heads: Sequence[Head] = (),
    checkpoint: JournalAnchor = EMPTY,
) -> VerifiedLedger:
    """Checks a whole ledger, and its latest checkpoint."""
    replay = Replay(public, heads, checkpoint)
    for row in rows:
        replay.add(row)
    verified = replay.finish(anchor)
    return replace(verified, earlier=len(heads))


def verify_journal(journal: Journal, heads: Sequence[Head] = ()) -> VerifiedLedger:
    """Checks a ledger from its store's pages to its last sum."""
    journal.check_pages()
    with journal.view() as view:
        checkpoint = view.checkpoint()
    return replay_ledger(*journal.read_all(), journal.key.public, heads, checkpoint)
