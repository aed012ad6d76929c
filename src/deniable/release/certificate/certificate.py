"""A certificate: what a release protects, costs and promises, signed by the table's owner.

The statement is what is signed. It holds the hashes of the plan, of the policy and of the
released rows, and the place of the charge in the ledger. The certificate also carries the plan,
so anyone can compute every number again (see `verification`). Only the hash of the released
rows depends on the data.

Versions: the meaning of a field never changes. A later version adds fields under new names and
increases `version`, so an old certificate keeps its meaning.
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
_PURPOSE = b"deniable certificate 1\n"  # no other signed message begins like this


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """A signed statement about one release, and the plan of that release.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1] * 100}), epsilon=1)
    >>> certificate = data.sql("SELECT COUNT(*) AS n FROM data", epsilon=0.5).certificate
    >>> certificate.statement["loss"], certificate.statement["neighbors"]
    ({'epsilon': '1/2', 'delta': '0'}, 'add-remove')
    """

    statement: Mapping[str, Any]
    plan: Mapping[str, Any]
    key: str  # the signer's public key, in hexadecimal
    signature: str

    @property
    def fingerprint(self) -> str:
        """The first sixteen digits of the signer's public key."""
        return self.key[:16]

    def to_dict(self) -> dict[str, Any]:
        """The certificate as a dictionary for JSON."""
        signature = {"algorithm": "Ed25519", "key": self.key, "value": self.signature}
        return {
            "statement": dict(self.statement),
            "plan": dict(self.plan),
            "signature": signature,
        }

    @classmethod
    def from_dict(cls, document: Any) -> "Certificate":
        """The certificate that `to_dict` wrote. It is not verified."""
        try:
            statement, plan, signature = (
                document[name] for name in ("statement", "plan", "signature")
            )
            algorithm, key, value = (signature[name] for name in ("algorithm", "key", "value"))
        except (KeyError, TypeError):
            raise InvalidCertificate(
                "This is not a certificate: `statement`, `plan` or `signature` is missing."
            ) from None
        texts = algorithm == "Ed25519" and isinstance(key, str) and isinstance(value, str)
        if not (texts and isinstance(statement, dict) and isinstance(plan, dict)):
            raise InvalidCertificate(
                "Unknown form of certificate. `statement` and `plan` must be JSON objects, and "
                "the signature must be Ed25519."
            )
        return cls(statement, plan, key, value)

    def __repr__(self) -> str:
        loss = self.statement.get("loss", {})
        return (
            f"<certificate: epsilon {loss.get('epsilon')}, delta {loss.get('delta')}, signed "
            f"by {self.fingerprint}>"
        )


@dataclass(frozen=True, slots=True)
class CertificateContext:
    """What a certificate states about a release in addition to the plan."""

    policy_hash: str
    data_version: str
    analyst: str | None
    position: int  # of the charge in the ledger
    head: Head  # of the ledger, after that charge
    cap: Mapping[str, Any]  # what all releases together may ever cost
    plan_hash: str | None = None  # None: computed here
    plan_json: canonical.Json = None  # None: computed here


def certify(
    plan: Plan, answer: Answer, context: CertificateContext, ledger: Ledger
) -> Certificate:
    """The certificate of an answer, signed with the ledger's key."""
    plan_json: Any = context.plan_json or canonical.to_json(plan)
    statement = {
        "format": "deniable certificate",
        "version": VERSION,
        **write_statement(plan),
        "plan_hash": context.plan_hash or canonical.digest_json(plan_json),
        "policy_hash": context.policy_hash,
        "data_version": context.data_version,
        "answer_hash": fingerprint(answer.table),
        "software": software_version(),
        "analyst": context.analyst,
        "ledger": {"position": context.position, "head": asdict(context.head)},
        "cap": dict(context.cap),
    }
    signature = ledger.sign(signed_message(statement))
    return Certificate(statement, plan_json, ledger.public_key, signature)


def budget_cap(policy: Policy, table: str) -> dict[str, str | None]:
    """The most that all releases about a table's units may cost. `by` is the day on which the
    budget's schedule reaches it.

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
    """The name and version of this package."""
    try:
        return f"deniable {metadata.version('deniable')}"
    except metadata.PackageNotFoundError:
        return "deniable"
