"""What a ledger keeps and a certificate says about a plan and its answer; their release.

The ledger keeps a copy of an answer, its receipt, so that the same question costs nothing
again.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict, TypeVar

import pyarrow as pa

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.exact.foreign_text import read_json
from deniable.ledger.ledger import Ledger, RecalledAnswer, Remaining, touched_parts
from deniable.ledger.remaining import describe_how_many
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.policy import Policy
from deniable.policy.sample import Sample
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.record import fingerprint, from_bytes, to_bytes
from deniable.release.certificate.certificate import (
    Certificate,
    CertificateContext,
    RunStep,
    budget_cap,
    certify,
    signed_message,
)
from deniable.release.certificate.kernel_check import KernelCheck
from deniable.release.session.measured_notes import can_have_note, read_note
from deniable.release.session.release import Release
from deniable.release.session.table_part import TablePart

VERSION = 2  # of kept answers; those of version 1 have no columns of ends
T = TypeVar("T")
_MOST_CACHED = 256  # plans of one question, such as cross-tables
MAX_KEPT_BYTES = 4 << 20  # larger tables are not kept: asking again is charged again


class RequestFacts(TypedDict):
    """What a ledger records about a question, in addition to its plan."""

    analyst: str | None
    plan_hash: str
    version: str


@dataclass(slots=True)
class ReleaseRecords:
    """The names under which plans and answers are kept, their certificates and releases."""

    policy: Policy  # with the schemas of its tables
    ledger: Ledger
    analyst: str | None
    engine: str
    policy_hash: str
    rehearsal: bool
    own_text: bool = False  # whether the engine runs another text than the kernel reads
    rows: TablePart = field(default_factory=TablePart)
    measured: dict[str, str] = field(default_factory=dict, init=False)  # see `limits`
    _forms: dict[int, tuple[Plan, canonical.Json, str]] = field(
        default_factory=dict, init=False
    )
    _checks: dict[int, KernelCheck] = field(default_factory=dict, init=False)

    def canonical_form(self, plan: Plan) -> tuple[canonical.Json, str]:
        """The plan as canonical JSON, and its hash; cached for the last plans."""
        form = self._forms.get(id(plan))
        if form is None or form[0] is not plan:
            form = plan, *canonical.plan_form(plan)
            _keep(self._forms, plan, form)
        return form[1:]

    def check(self, plan: Plan) -> KernelCheck:
        """The kernel's opinion of a plan; cached for the last plans."""
        check = self._checks.get(id(plan))
        if check is None or check.plan is not plan:
            check = KernelCheck.of(plan, self.policy)
            _keep(self._checks, plan, check)
        return check

    def facts(self, plan: Plan) -> RequestFacts:
        """The analyst, the hash of the plan and the name of the data."""
        return {
            "analyst": self.analyst,
            "plan_hash": self.canonical_form(plan)[1],
            "version": self.policy.data_name((*plan.tables, *plan.public)),
        }

    def certify(
        self, plan: Plan, answer: Answer, position: int, run: RunStep | None = None
    ) -> Certificate:
        """The signed certificate of an answer; `position` is that of its entry."""
        plan_json, plan_hash = self.canonical_form(plan)
        context = CertificateContext(
            policy_hash=self.policy_hash,
            data_version=self.policy.version((*plan.tables, *plan.public)),
            analyst=self.analyst,
            position=position,
            head=self.ledger.head,
            cap=budget_cap(self.policy, plan.table),
            engine=self.engine,
            kernel=self.check(plan).to_json(own_text=self.own_text),
            run=run,
            plan_hash=plan_hash,
            plan_json=plan_json,
        )
        return certify(plan, answer, context, self.ledger)

    def read_kept(self, plan: Plan, record: str) -> tuple[Answer, Certificate]:
        """An answer that the ledger kept, after checking that it answers this plan."""
        return read_receipt(
            record,
            self.ledger.public_key,
            plan_hash=self.canonical_form(plan)[1],
            version=self.policy.version((*plan.tables, *plan.public)),
        )

    def hand_over(
        self,
        plan: Plan,
        answer: Answer,
        certificate: Certificate | None,
        *,
        repeated: bool = False,
        kept: bool = True,
    ) -> Release:
        """The release: the answer, and what is left after it."""
        more = self.ledger.how_many(plan, self.analyst, part=self.rows.path)
        return Release(
            plan,
            answer,
            self.remaining_for(plan.tables),
            certificate=certificate,
            more=describe_how_many(more),
            repeated=repeated,
            rehearsal=self.rehearsal,
            kept=kept,
            left_out=self._left_out(plan),
            sample=self.sample_of(plan),
        )

    def _left_out(self, plan: Plan) -> str:
        """What was measured about the plan's limits, now or by an earlier session."""
        if can_have_note(plan) and plan.engine_sql not in self.measured:
            version = self.facts(plan)["version"]
            note = read_note(self.ledger, plan, version, self.analyst)
            self.measured[plan.engine_sql] = note
        return self.measured.get(plan.engine_sql, "")

    def sample_of(self, plan: Plan) -> Sample | None:
        """How the rows of a plan were drawn; None if it reads several tables."""
        table = self.policy.tables.get(plan.table)
        return None if table is None or plan.beside else table.sample

    def repeat(self, plan: Plan, kept: RecalledAnswer) -> Release:
        """The release of an answer that the ledger kept."""
        return self.hand_over(plan, *self.read_kept(plan, kept.record), repeated=True)

    def remaining_for(self, tables: tuple[str, ...] | None) -> Remaining:
        """What is left of the budgets of these tables, or of all."""
        path, name = self.rows.path, self.rows.table
        touches = 1 if name is None else touched_parts(self.policy.tables[name].neighbors)
        return self.ledger.remaining_for(
            self.analyst, tables=tables, part=path, touches=touches
        )


def _keep(cache: dict[int, T], plan: Plan, value: T) -> None:
    """Keeps a value, which holds the plan, so that its id stays its own. Other threads may
    change the cache meanwhile."""
    for old in list(cache)[: max(0, 1 + len(cache) - _MOST_CACHED)]:
        cache.pop(old, None)
    cache[id(plan)] = value


def private_tables(policy: Policy, rows: TablePart) -> tuple[str, ...]:
    """The private tables that a session about these rows can be asked about."""
    if rows.table is not None:
        return (rows.table,)
    return tuple(name for name, table in policy.tables.items() if not table.public)


def widest_neighbors(policy: Policy, tables: Sequence[str]) -> Neighbors:
    """ "replace" if any of these tables has that relation."""
    known = [policy.tables[name] for name in tables if name in policy.tables]
    replaced = any(table.neighbors == "replace" for table in known)
    return "replace" if replaced else "add-remove"


def write_receipt(answer: Answer, certificate: Certificate) -> str | None:
    """The answer and its certificate as text; None if the answer is too large to keep."""
    if answer.table.nbytes > MAX_KEPT_BYTES:
        return None
    return receipt_text(answer, certificate)


def receipt_text(answer: Answer, certificate: Certificate) -> str:
    """The answer and its certificate as text, which `read_receipt` reads."""
    rows = base64.b64encode(to_bytes(answer)).decode("ascii")
    kept = {"answer": rows, "certificate": certificate.to_dict(), "version": VERSION}
    return json.dumps(kept)


def read_receipt(
    record: str, public_key: str, *, plan_hash: str, version: str
) -> tuple[Answer, Certificate]:
    """The kept answer, after checking that it was signed and answers this question."""
    try:
        receipt = read_json(record)
        if receipt.get("version", 1) > VERSION:  # the first ones did not name it
            raise _later_version(receipt["version"])
        certificate = Certificate.from_dict(receipt["certificate"])
        answer = from_bytes(base64.b64decode(receipt["answer"], validate=True))
        expected = {"plan_hash": plan_hash, "data_version": version}
        expected["answer_hash"] = fingerprint(answer.table)
        signed = signature_is_valid(
            signed_message(certificate.statement), certificate.signature, public_key
        )
    except (ValueError, KeyError, TypeError, AttributeError, pa.ArrowException):
        signed = False
    if not signed or not expected.items() <= certificate.statement.items():
        raise LedgerBroken(
            "A kept answer differs from the answer that was released: the ledger was changed. "
            "`deniable ledger verify` shows where. fresh=True pays for a new answer."
        )
    return answer, certificate


def _later_version(version: object) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"The kept answer is of version {version}. This version of Deniable knows version "
        f"{VERSION} and cannot say what a later one means. Use a newer version of Deniable, or "
        "pay for a new answer with fresh=True. Nothing was released."
    )
