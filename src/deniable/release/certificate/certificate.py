"""A certificate: what a release protects, costs and promises, signed by the table's owner.

The statement is what is signed. It names, by their hashes, the plan that was run, the policy
that it was made for and the rows that were handed over, and the place that the charge has in
the ledger. The plan stands beside it, so that a stranger can make every number anew (see
`verification`). Nothing in a certificate comes from a row but the hash of what was released.

Versions: the meaning of a field never changes. What a later version adds has a new name, and
`version` counts up, so that an old certificate says for ever what it said.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import metadata
from typing import Any

from deniable.errors import InvalidCertificate
from deniable.ledger.ledger import Head, Ledger
from deniable.policy import Policy
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer import Answer
from deniable.release.answer.record import fingerprint
from deniable.release.certificate.statement import write_statement

VERSION = 1
_PURPOSE = b"deniable certificate 1\n"  # no other thing that is signed begins like this


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """A signed statement about one release, and the plan that it is about.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1] * 100}), epsilon=1)
    >>> found = data.sql("SELECT COUNT(*) AS n FROM data", epsilon=0.5).certificate
    >>> found.statement["loss"], found.statement["neighbors"]
    ({'epsilon': '1/2', 'delta': '0'}, 'add-remove')
    """

    statement: Mapping[str, Any]
    plan: Mapping[str, Any]
    key: str  # the public half of the key that signed, in hexadecimal
    signature: str

    @property
    def fingerprint(self) -> str:
        """The signing key in short: the first sixteen digits of its public half."""
        return self.key[:16]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        signature = {"algorithm": "Ed25519", "key": self.key, "value": self.signature}
        return {
            "statement": dict(self.statement),
            "plan": dict(self.plan),
            "signature": signature,
        }

    @classmethod
    def from_dict(cls, found: Any) -> "Certificate":
        """From JSON; whether it holds is another question."""
        try:
            statement, plan, signature = (
                found[name] for name in ("statement", "plan", "signature")
            )
            algorithm, key, value = (signature[name] for name in ("algorithm", "key", "value"))
        except (KeyError, TypeError):
            raise InvalidCertificate(
                "A certificate has a statement, a plan and a signature. Not all are here."
            ) from None
        texts = algorithm == "Ed25519" and isinstance(key, str) and isinstance(value, str)
        if not (texts and isinstance(statement, dict) and isinstance(plan, dict)):
            raise InvalidCertificate("This certificate is not of a form that we know.")
        return cls(statement, plan, key, value)

    def __repr__(self) -> str:
        loss = self.statement.get("loss", {})
        return (
            f"<certificate: epsilon {loss.get('epsilon')}, delta {loss.get('delta')}, signed "
            f"by {self.fingerprint}>"
        )


@dataclass(frozen=True, slots=True)
class CertificateContext:
    """What a certificate says beside the plan: where the charge stands, and under what cap."""

    policy_hash: str
    data_version: str
    analyst: str | None
    position: int  # of the charge in the ledger
    head: Head  # of the ledger, after that charge
    cap: Mapping[str, Any]  # what all releases together may ever cost
    plan_hash: str | None = None  # if it is known already
    written: canonical.Json = None  # the plan, if it was written already


def certify(
    plan: Plan, answer: Answer, placed: CertificateContext, ledger: Ledger
) -> Certificate:
    """The certificate of an answer, signed with the ledger's key."""
    written: Any = placed.written or canonical.to_json(plan)
    statement = {
        "format": "deniable certificate",
        "version": VERSION,
        **write_statement(plan),
        "plan_hash": placed.plan_hash or canonical.digest_json(written),
        "policy_hash": placed.policy_hash,
        "data_version": placed.data_version,
        "answer_hash": fingerprint(answer.table),
        "software": software_version(),
        "analyst": placed.analyst,
        "ledger": {"position": placed.position, "head": asdict(placed.head)},
        "cap": dict(placed.cap),
    }
    signature = ledger.sign(signed_message(statement))
    return Certificate(statement, written, ledger.public_key, signature)


def budget_cap(policy: Policy, table: str) -> dict[str, str | None]:
    """What all releases about a table's units may ever cost; `by` when the budget is so large.

    >>> from deniable.policy import Table
    >>> budget_cap(Policy([Table("visits")], epsilon=3, delta=1e-6), "visits")
    {'epsilon': '3', 'delta': '1/1000000', 'by': None}
    """
    unit = (policy.tables[table].unit or "").lower()
    budget = policy.units.get(unit, policy.budget)
    whole, days = budget.at(None), budget.days
    return {
        "epsilon": str(whole.epsilon),
        "delta": str(whole.delta),
        "by": days[-1].isoformat() if days else None,
    }


def signed_message(statement: Mapping[str, Any]) -> bytes:
    """The bytes that are signed."""
    return _PURPOSE + canonical.canonical_text(dict(statement)).encode("ascii")


@cache
def software_version() -> str:
    """The code that made a release, by name and version."""
    try:
        return f"deniable {metadata.version('deniable')}"
    except metadata.PackageNotFoundError:
        return "deniable"
