"""What a stream needs of its session. A stream is one mechanism that answers over time.

It is charged once, when it begins. A reading is a plan: it is checked like every plan, and the
kernel derives how far one unit moves its integers: no further than the stream's noise is made
for. They are handed to that noise, not to the plan's: the plan's mechanism is not run. Then the
state of the stream is written, then the ledger records the step, then the answer leaves.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import PlanRefused
from deniable.exact.rationals import Number
from deniable.ledger.chained_ledger import find_stream, reserve_stream
from deniable.ledger.ledger import Remaining
from deniable.ledger.run_requests import tables_of_run
from deniable.ledger.runs import StreamRun
from deniable.policy import Policy
from deniable.privacy import Loss
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan.plan import Plan
from deniable.release.certificate.kernel_check import KernelCheck
from deniable.release.session.plan_check import check_plan
from deniable.release.session.release_records import (
    ReleaseRecords,
    private_tables,
    widest_neighbors,
)
from deniable.release.session.table_part import TablePart

T = TypeVar("T")
_SECRET = "deniable stream state 1"


@dataclass(frozen=True, slots=True)
class StreamDoor:
    """The charge of a stream, its steps in the ledger, and exact integers for its noise."""

    policy: Policy
    rows: TablePart
    records: ReleaseRecords
    write: Callable[[Plan], WrittenPlan]
    measure: Callable[..., Any]  # runs a written plan, and a step on its integers

    def tables(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """The private tables that a stream is charged for: those named, or all."""
        return tables_of_run(names, private_tables(self.policy, self.rows))

    def neighbors(self, tables: Sequence[str]) -> Neighbors:
        """How the units of these tables may change."""
        return widest_neighbors(self.policy, tables)

    def private(self, plan: Plan) -> tuple[str, ...]:
        """The private tables that a plan reads."""
        return tuple(name for name in plan.tables if not self.policy.tables[name].public)

    def find(self, name: str) -> StreamRun | None:
        """The stream of this name, if it was charged."""
        return find_stream(self.records.ledger, name, analyst=self.records.analyst)

    def reserve(
        self, name: str, loss: Loss, tables: Sequence[str], delta: Number | None
    ) -> StreamRun:
        """Charges a stream, once for its whole life."""
        return reserve_stream(
            self.records.ledger,
            name,
            loss,
            tables=tables,
            delta=delta,
            neighbors=self.neighbors(tables),
            analyst=self.records.analyst,
            version=self.policy.data_name(tables),
            part=self.rows.path,
        )

    def check(self, plan: Plan, most: tuple[int, int], charged: Sequence[str]) -> KernelCheck:
        """The kernel's opinion of a reading. Raises `PlanRefused` if it does not agree.

        `most` is what the stream's noise is made for: L1 and the square of L2 of what one unit
        moves. The kernel may derive no more. What the plan declares for itself does not count.
        `charged` are the private tables that the stream is charged for: it reads no others.
        """
        check_plan(plan, self.policy, self.rows)
        if not set(self.private(plan)) <= set(charged):
            raise PlanRefused(
                f"The stream was not charged for {', '.join(plan.tables)}. Nothing was read. "
                "This is an error in Deniable: please report it."
            )
        checked = KernelCheck.of(plan, self.policy, withheld=True)
        (moved, *others) = checked.verdict.parts
        if others or moved.l1 > most[0] or moved.l2_squared > most[1]:
            raise PlanRefused(
                f"One {plan.unit or 'row'} moves {moved.about} by {moved.l1} grid steps "
                f"(square of L2: {moved.l2_squared}), and the noise of this stream is made for "
                f"{most[0]} (square: {most[1]}). Nothing was read. This is an error in "
                "Deniable: please report it."
            )
        return checked

    def read(
        self,
        plan: Plan,
        most: tuple[int, int],
        charged: Sequence[str],
        step: Callable[[ExactGroups], T],
    ) -> Callable[[], T]:
        """What reads a plan's exact integers and hands them to a step that adds noise.

        The plan is checked, as by `check`, and written now. It is run when the
        result is called.
        """
        self.check(plan, most, charged)
        return partial(self._run, self.write(plan), step)

    def _run(self, written: WrittenPlan, step: Callable[[ExactGroups], T]) -> T:
        outcome = self.measure(written, step)
        if isinstance(outcome, BaseException):
            raise outcome
        result: T = outcome
        return result

    def plan_hash(self, plan: Plan) -> str:
        """The name of a plan in the ledger."""
        return self.records.canonical_form(plan)[1]

    @property
    def remaining(self) -> Remaining:
        """What is left of the budget."""
        return self.records.remaining_for(None)

    @property
    def folder(self) -> Path | None:
        """Where states are stored: beside the ledger's key. None: in memory, as the ledger."""
        key = None if self.records.rehearsal else self.policy.ledger_key
        return None if key is None else Path(key).with_suffix(".streams")

    def secret(self) -> bytes:
        """The key of the stored states. It follows from the ledger's signing key: a signature
        of a text that is signed for nothing else, and is never shown."""
        ledger = self.records.ledger
        signed = ledger.sign(f"{_SECRET}\n{ledger.origin[0]}".encode())
        return hashlib.sha256(signed.encode()).digest()
