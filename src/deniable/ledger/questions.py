"""One question, one answer: recalling and reserving are one decision under the ledger's lock.

A question is a plan on a version of the data. The first asker reserves it. Others who ask the
same while it is being answered wait for the outcome, and get it. If the first asker dies, the
charge stays, its entry is ended as "abandoned", and the next asker reserves again.

A question id names one asking of one question. It has one reservation and one outcome, an
answer or a failure, and asking again under the same id gets that outcome. Another plan, or
another version of the data, is refused under an id that was used.

An asker takes over what a dead one has left by holding its token, which only one can do. Nobody
waits for a token while the ledger is locked.
"""

import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from deniable.errors import EngineFailed, InvalidParameter, LedgerUnavailable, QuestionPending
from deniable.ledger.current_state import Change
from deniable.ledger.entries import known_as, read_entries, recalled_answer, recipients
from deniable.ledger.journal import (
    Body,
    Journal,
    JournalRow,
    JournalView,
    check_link,
    question_key,
    recall_key,
    reservation_id,
)
from deniable.ledger.ledger import Entry, RecalledAnswer
from deniable.ledger.stores import patience
from deniable.ledger.stores.stored_rows import as_written

PATIENCE = 300  # seconds to wait for the outcome of the same question
ABANDONED = "abandoned"  # the reference of a reservation whose asker died
_NOT_THE_ENGINES = (ABANDONED, "interrupted", "not run")  # failures of one asker only
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.25  # seconds between two looks

_MOST_ID_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as it is looked up: a plan and its data, who asks, and under which id."""

    plan_hash: str
    version: str
    analyst: str | None
    fresh: bool = False  # whether a kept answer will not do
    question_id: str | None = None

    def __post_init__(self) -> None:
        name = self.question_id
        if name is not None and not (
            isinstance(name, str)
            and 0 < len(name) <= _MOST_ID_CHARACTERS
            and name.isprintable()
        ):
            raise InvalidParameter(
                f"`question_id` must be a text of 1 to {_MOST_ID_CHARACTERS} printable "
                "characters. Nothing was spent."
            )

    @property
    def names(self) -> tuple[str, str]:
        """The plan and the version of the data, as a reservation states them."""
        return self.plan_hash, self.version


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer that the ledger keeps; `paid`: whether this analyst has paid for it."""

    body: Body
    paid: bool


@dataclass(frozen=True, slots=True)
class OpenReservation:
    """A reservation without an outcome; `shared`: whether this asker would share it."""

    row: JournalRow
    body: Body
    shared: bool

    def __post_init__(self) -> None:
        if not re.fullmatch("[0-9a-f]{16}", self.holder):  # it names a lock, and a file
            raise ValueError("not a token")

    @property
    def holder(self) -> str:
        """The token that is locked while the question is being answered."""
        return str(self.body["holder"])

    @property
    def id(self) -> str:
        return reservation_id(self.row.number, 0)


@dataclass(frozen=True, slots=True)
class FailedReservation:
    """A reservation that ended without an answer."""

    reference: str


Finding: TypeAlias = KeptAnswer | OpenReservation | FailedReservation | None


@as_written()
def look_up(view: JournalView, question: AskedQuestion, *, has_account: bool) -> Finding:
    """What the ledger knows about a question; `has_account`: if its analyst has a budget."""
    if question.question_id is not None:
        named = view.ending(question_key(question.analyst, question.question_id))
        if named is not None:
            return _outcome(view, question, named)
    if question.fresh:
        return None
    rows = view.answers(recall_key(question.plan_hash, question.version))
    bodies = [(row, row.read()) for row in rows]
    analyst = known_as(question.analyst)
    answers = [(row, body) for row, body in bodies if "record" in body]
    if answers:
        row, body = answers[-1]
        _check_hash(view, row)
        received = recipients(body, [body for _, body in bodies])
        return KeptAnswer(body, not has_account or analyst in received)
    for row, body in reversed(bodies):
        is_open = view.ending(reservation_id(row.number, 0)) is None
        if body["kind"] == "reserved" and is_open:
            shared = not has_account or known_as(body["analyst"]) == analyst
            _check_hash(view, row)
            return OpenReservation(row, body, shared)
    return None


def _check_hash(view: JournalView, row: JournalRow) -> None:
    before = view.row(row.number - 1)
    check_link(row, row.number, "" if before is None else before.hash)


def _outcome(view: JournalView, question: AskedQuestion, row: JournalRow) -> Finding:
    """How the one reservation of a question id ended."""
    _check_hash(view, row)
    body = row.read()
    if (body["plans"][0]["plan"], body["version"]) != question.names:
        raise InvalidParameter(
            f"The question id {question.question_id!r} was used for another question, or for "
            "another version of the data (entry "
            f"{row.number} of the ledger). An id belongs to one question. Nothing was spent. "
            "Ask under another id."
        )
    ending = view.ending(reservation_id(row.number, 0))
    if ending is None:
        return OpenReservation(row, body, True)
    _check_hash(view, ending)
    ended = ending.read()
    if "record" in ended:
        return KeptAnswer(ended, True)
    if ended["kind"] == "failed":
        return FailedReservation(ended["reference"])
    raise InvalidParameter(
        f"The question id {body['question_id']!r} was answered before, with a table that is "
        "too large to be kept. Ask under another id: that is charged again. Nothing was spent."
    )


@dataclass(frozen=True, slots=True)
class QuestionActs:
    """What a ledger does with one question. `reserve`, `repeat` and `has_account` need its
    lock."""

    check: Callable[[], None]  # refuses a plan that cannot be charged
    prepare: Callable[[], object]  # refuses a plan that cannot be run; it may take long
    has_account: Callable[[JournalView], bool]
    reserve: Callable[[JournalView, Body], Change]  # the second: what the entry adds
    repeat: Callable[[JournalView, Body], Change]  # the second: the kept answer
    append: Callable[[Callable[[JournalView], Change]], list[JournalRow]]
    time: Callable[[], str]


class QuestionDesk:
    """Takes questions for a journal: recalls, waits or reserves."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        # Holders of this process whose reservation may have been committed, and for which no
        # engine ran. Only who holds the token may take a holder out, before the engine runs.
        self.unconfirmed: set[tuple[int, str]] = set()

    @contextmanager
    def ask(
        self, question: AskedQuestion, acts: QuestionActs
    ) -> Iterator[Entry | RecalledAnswer]:
        """The kept answer; or the entry of a reservation, which is held until the end."""
        with self.journal.view() as view:
            finding = look_up(view, question, has_account=acts.has_account(view))
        if isinstance(finding, KeptAnswer) and finding.paid:
            yield recalled_answer(finding.body)
            return
        with ExitStack() as tokens:
            yield _Asking(self, question, acts, tokens).resolve()


class _Asking:
    """One asking, until it has an outcome or a reservation."""

    def __init__(
        self, desk: QuestionDesk, question: AskedQuestion, acts: QuestionActs, tokens: ExitStack
    ) -> None:
        self._desk, self._question, self._acts, self._tokens = desk, question, acts, tokens
        self._journal = desk.journal
        self._finding: Finding = None
        self._taken: set[str] = set()  # the tokens of others that are held here
        self._adopted = ""  # the holder of a reservation that was not confirmed
        self._holder = secrets.token_hex(8)
        while not self._hold(self._holder):
            self._holder = secrets.token_hex(8)

    def _hold(self, token: str) -> bool:
        """Holds a token until the end of the asking, unless another holds it."""
        with ExitStack() as attempt:
            if not attempt.enter_context(self._journal.hold(token)):
                return False
            self._tokens.push(attempt.pop_all())
        return True

    def resolve(self) -> Entry | RecalledAnswer:
        self._acts.check()
        self._acts.prepare()
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                rows = self._acts.append(self._decide)
            except LedgerUnavailable:
                self._desk.unconfirmed.add((os.getpid(), self._holder))
                raise
            finding = self._finding
            if finding is None:
                return next(read_entries(rows[-1]))
            if isinstance(finding, KeptAnswer):
                return recalled_answer(finding.body)
            if isinstance(finding, FailedReservation):
                raise EngineFailed(finding.reference)
            holder = finding.holder
            if holder == self._adopted:
                self._journal.raise_mark()  # the first try may not have come so far
                self._desk.unconfirmed.discard((os.getpid(), holder))
                return next(read_entries(finding.row))
            if not self._hold(holder):
                self._wait_for(finding, deadline)
            elif not self._has_ended(finding):
                self._taken.add(holder)

    def _decide(self, view: JournalView) -> Change:
        has_account = self._acts.has_account(view)
        finding = self._finding = look_up(view, self._question, has_account=has_account)
        if isinstance(finding, KeptAnswer) and not finding.paid:
            return self._acts.repeat(view, finding.body)
        if isinstance(finding, OpenReservation):
            return self._take_over(view, finding)
        return self._reserve(view) if finding is None else ((), None)

    def _reserve(self, view: JournalView) -> Change:
        name = self._question.question_id
        return self._acts.reserve(
            view, {"holder": self._holder} | ({} if name is None else {"question_id": name})
        )

    def _take_over(self, view: JournalView, reservation: OpenReservation) -> Change:
        """Nothing, unless its token is held here; then adopts it, or ends it and reserves."""
        holder = reservation.holder
        if holder not in self._taken:
            return (), None
        own = known_as(reservation.body["analyst"]) == known_as(self._question.analyst)
        if own and (os.getpid(), holder) in self._desk.unconfirmed:
            self._adopted = holder
            return (), None
        ended = {"kind": "failed", "of": reservation.row.number, "place": 0}
        ended |= {"reference": ABANDONED, "time": self._acts.time()}
        if reservation.body.get("question_id") == self._question.question_id is not None:
            self._finding = FailedReservation(ABANDONED)
            return (ended,), None
        self._finding = None
        bodies, state = self._reserve(view)
        return (ended, *bodies), state

    def _wait_for(self, entry: OpenReservation, deadline: float) -> None:
        """Returns when the reservation has ended, or its holder is not at work any more."""
        pause, told_at = _FIRST_PAUSE, time.monotonic() + patience.TOLD_AFTER
        while True:
            at_work = self._journal.is_held(entry.holder)  # first: it ends, then stops
            if self._has_ended(entry) or not at_work:
                return
            if time.monotonic() > deadline:
                raise QuestionPending(
                    f"The same question is being answered since {entry.body['time']} (entry "
                    f"{entry.row.number} of the ledger). Nothing was spent. Ask again later "
                    "to get that answer. fresh=True pays for another one now."
                )
            if time.monotonic() > told_at:
                patience.tell_waiting("Another session is being answered the same question")
                told_at = deadline
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _has_ended(self, reservation: OpenReservation) -> bool:
        """Whether a reservation has an outcome by now. A failure is that of who waited, too."""
        with self._journal.view() as view:
            ending = view.ending(reservation.id)
        if ending is None:
            return False
        with as_written(f"Entry {ending.number}"):
            ended = ending.read()
            failed = ended["kind"] == "failed" and reservation.shared
            if failed and ended["reference"] not in _NOT_THE_ENGINES:
                raise EngineFailed(ended["reference"])
        return True
