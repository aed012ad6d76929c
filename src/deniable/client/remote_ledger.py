"""The ledger of a server, as far as an analyst may see it. It charges by itself."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, NoReturn, Unpack

from deniable.client.server_calls import ServerCalls
from deniable.errors import Unsupported
from deniable.exact.foreign_text import read_rational
from deniable.exact.rationals import Number
from deniable.ledger.accounts import PartPath
from deniable.ledger.ledger import (
    AskedRun,
    Entry,
    FilterUsage,
    Head,
    Ledger,
    RecalledAnswer,
    Remaining,
    RemainingInFilter,
    ReservedRun,
    VerifiedLedger,
)
from deniable.privacy import Loss
from deniable.query.plan.plan import Plan


class RemoteLedger(Ledger):
    """What is left and what was charged, asked from the server each time."""

    def __init__(
        self,
        calls: ServerCalls,
        *,
        key: str,
        origin: tuple[str, str],
        request_of: Callable[[Plan], dict[str, Any]],
    ) -> None:
        self._calls, self._key, self._origin = calls, key, origin
        self._request_of = request_of

    def remaining_for(
        self,
        analyst: str | None = None,
        *,
        tables: Sequence[str] | None = None,
        part: PartPath = (),
        touches: int = 1,
    ) -> Remaining:
        request = {
            "tables": None if tables is None else list(tables),
            "part": [list(step) for step in part],
            "touches": touches,
        }
        return read_remaining(self._calls.post("budget", request))

    def how_many(
        self, plan: Plan, analyst: str | None = None, *, part: PartPath = ()
    ) -> int | None:
        try:
            request = self._request_of(plan)
        except Unsupported:  # a step of a run: the server says it with the run's answer
            return None
        count = self._calls.post("explain", request).get("how_many")
        return None if count is None else int(count)

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(_read_entry(document) for document in self._calls.get("ledger/entries"))

    @property
    def head(self) -> Head:
        return Head(**self._calls.get("ledger/head"))

    @property
    def origin(self) -> tuple[str, str]:
        return self._origin

    @property
    def public_key(self) -> str:
        return self._key

    def filter_usages(self) -> tuple[FilterUsage, ...]:
        raise _refuse("Only the owner sees what everybody has spent")

    def verify(self, heads: Sequence[Head] = ()) -> VerifiedLedger:
        raise _refuse("A server's ledger is verified where it lies, or from a copy")

    def sign(self, message: bytes) -> str:
        raise _refuse("Only the owner signs")

    def reserve_all(self, *_: Any, **__: Any) -> NoReturn:
        raise _refuse("A server charges by itself")

    def settle(self, entry: Entry, record: str | None = None) -> None:
        raise _refuse("A server settles by itself")

    def fail(self, entry: Entry, reference: str) -> None:
        raise _refuse("A server settles by itself")

    def ask(self, *_: Any, **__: Any) -> NoReturn:
        raise _refuse("A server charges by itself")

    def recall(
        self, *, plan_hash: str, version: str = "", analyst: str | None = None
    ) -> RecalledAnswer | None:
        """Nothing: a server gives a kept answer by itself."""
        return None

    def reserve_run(self, loss: Loss, *, delta: Number | None = None, **_: Any) -> ReservedRun:
        raise refuse_runs()

    def ask_run(
        self, plans: Sequence[Plan], **options: Unpack[AskedRun]
    ) -> AbstractContextManager["ReservedRun | RecalledAnswer"]:
        raise refuse_runs()


def refuse_runs() -> Unsupported:
    """The error for what needs the noise of one step to choose the next one."""
    return Unsupported(
        "A server answers questions in SQL, lists of them, profiles and what limits leave out. "
        "Copies, cross-tables, models, counters, watches and runs of your own need a session "
        "on the owner's machine, with dp.open. Nothing was spent."
    )


def _refuse(why: str) -> Unsupported:
    return Unsupported(f"{why}. Nothing was spent.")


def read_remaining(document: Any) -> Remaining:
    """What is left, as the server says it."""
    others = tuple(
        RemainingInFilter(
            other["filter"], read_rational(other["amount"]), read_rational(other["delta"])
        )
        for other in document["others"]
    )
    return Remaining(
        read_rational(document["epsilon"]), read_rational(document["delta"]), others
    )


def _read_entry(document: dict[str, Any]) -> Entry:
    exact = {name: Fraction(read_rational(document[name])) for name in ("epsilon", "delta")}
    part = tuple((partition, key) for partition, key in document["part"])
    return Entry(**(document | exact | {"tables": tuple(document["tables"]), "part": part}))
