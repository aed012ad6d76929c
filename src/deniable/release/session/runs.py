"""A run of several steps that was paid for at once: each step is a plan, run and certified."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self, Unpack

from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import LedgerBroken
from deniable.exact.foreign_text import read_json
from deniable.ledger.ledger import RemainingInFilter, ReservedRun
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer
from deniable.release.certificate.certificate import Certificate, RunStep
from deniable.release.session.ask_options import AskOptions, with_names
from deniable.release.session.measured_notes import note_key, write_note
from deniable.release.session.release import Release
from deniable.release.session.release_records import (
    MAX_KEPT_BYTES,
    ReleaseRecords,
    write_receipt,
)


@dataclass(frozen=True, slots=True)
class StepDoor:
    """What a run needs of its session."""

    plan: Callable[..., Plan]
    prepare: Callable[[Plan], WrittenPlan]  # refuses a plan that may not or cannot be run
    run: Callable[[WrittenPlan], Answer | BaseException]
    forget: Callable[[], None]  # drops the rows that steps have stored


class Run:
    """Steps that are released one after the other, within one charge. See
    `Session.reserve_run`."""

    def __init__(
        self,
        door: StepDoor,
        records: ReleaseRecords,
        reserved: ReservedRun,
        question: str | None,
    ) -> None:
        self._door, self._records = door, records
        self._reserved, self._question = reserved, question
        self._receipts: list[str | None] = []
        self._ended = self._stores = False

    @property
    def remaining(self) -> tuple[RemainingInFilter, ...]:
        """What is left of the run, in each unit in which its steps add up."""
        return self._reserved.remaining

    @property
    def record(self) -> str | None:
        """The answers so far, as they are kept; None if one is too large to be kept."""
        return None if None in self._receipts else json.dumps(self._receipts)

    @with_names("question, epsilon=0.1")
    def sql(self, text: str, **options: Unpack[AskOptions]) -> Release:
        """The private answer to a question in SQL, as the next step."""
        return self.release(self._door.plan(text, **options))

    def release(self, plan: Plan) -> Release:
        """Runs a plan as the next step, with fresh noise, and returns the answer.

        If it does not fit what is left of the run, raises `BudgetExhausted`; nothing is read.
        """
        written = self._door.prepare(plan)
        step = self._reserved.step(plan)
        self._stores = self._stores or bool(plan.stored)
        answer = self._door.run(written)
        if isinstance(answer, BaseException):
            self._end(getattr(answer, "reference", "interrupted"))
            raise answer
        if self._records.rehearsal:
            self._receipts.append(None)
            return self._records.hand_over(plan, answer, None)
        paid = self._reserved.entry
        stated = RunStep(step, paid.epsilon, paid.delta, self._question)
        certificate = self._records.certify(plan, answer, paid.number, stated)
        receipt = write_receipt(answer, certificate)
        self._receipts.append(receipt)
        if receipt is not None:
            facts = self._records.facts(plan)
            kept = {"plan_hash": facts["plan_hash"], "version": facts["version"]}
            self._reserved.keep(step, receipt, **kept)
        return self._records.hand_over(plan, answer, certificate, kept=receipt is not None)

    def keep_note(self, plan: Plan, text: str) -> None:
        """Keeps what these steps have measured about another plan, for later sessions."""
        if self._receipts and None not in self._receipts:
            version = self._records.facts(plan)["version"]
            note = write_note(self._records.ledger, plan, version, text)
            step = len(self._receipts)
            self._reserved.keep(step, note, plan_hash=note_key(plan), version=version)

    @contextmanager
    def ended(self) -> Iterator[Self]:
        """The run, which is settled at the end of the context, or failed by an exception."""
        try:
            yield self
        except BaseException:
            self._end("interrupted")
            raise
        self._end(None)

    def _end(self, reference: str | None) -> None:
        if self._ended:
            return
        self._ended = True
        if self._stores:
            self._door.forget()
        if reference is not None:
            self._reserved.fail(reference)
            return
        record = self.record if self._question is not None and self._receipts else None
        short = record is not None and len(record) <= 2 * MAX_KEPT_BYTES
        self._reserved.settle(record if short else None)


class RecalledRun:
    """The kept answers of a run, given again in the same order."""

    def __init__(self, records: ReleaseRecords, record: str, question: str) -> None:
        self._records, self._question = records, question
        self.record: str | None = record
        self._receipts = iter(read_json(record))

    def release(self, plan: Plan) -> Release:
        """The answer to the next step, which must be the plan that was answered then."""
        answer, certificate = self._read_next(plan)
        return self._records.hand_over(plan, answer, certificate, repeated=True)

    def _read_next(self, plan: Plan) -> tuple[Answer, Certificate]:
        answer, certificate = self._records.read_kept(plan, next(self._receipts, ""))
        run = certificate.statement["ledger"]["run"]
        if run is None or run["question"] != self._question:
            raise LedgerBroken(
                "A kept answer belongs to another run: the ledger was changed. `deniable "
                "ledger verify` shows where. fresh=True pays for a new answer."
            )
        return answer, certificate
