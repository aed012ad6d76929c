"""A certificate: what a release protects, costs and promises, signed by the table's owner.

The statement is what is signed. It holds everything that is handed over, or its hash: the
hashes of the plan, of the policy and of the released rows, the place of the charge in the
ledger, the engine and the signer's key. The certificate also carries the plan, so anyone can
compute every number again (see `verification`). Only the hash of the released rows, and the
warnings about them, depend on the data, and both follow from the released rows.

Versions: the meaning of a field never changes. A later version adds fields under new names and
increases `version`, so an old certificate keeps its meaning. Version 2: the released rows,
whose hash is signed, hold the low and the high end of every number's interval.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from importlib import metadata
from typing import Any

from deniable.errors import InvalidCertificate, InvalidParameter
from deniable.exact.foreign_text import MOST_BYTES, read_rational
from deniable.ledger.ledger import Head, Ledger
from deniable.policy import Policy
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.record import fingerprint
from deniable.release.answer.wide_margins import warn_of_wide_margins
from deniable.release.certificate.statement import write_statement

CERTIFICATE_FORMAT = "deniable certificate"
VERSION = 2
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

    def to_json(self) -> str:
        """The certificate as `deniable verify` reads it, without the rows."""
        return document_text(self.to_dict())

    @classmethod
    def from_dict(cls, document: Any) -> "Certificate":
        """The certificate that `to_dict` wrote. It is not verified."""
        statement, plan, signature = _fields(document, "statement", "plan", "signature")
        algorithm, key, value = _fields(signature, "algorithm", "key", "value")
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


def _fields(document: Any, *names: str) -> list[Any]:
    """The values of exactly these fields."""
    if not isinstance(document, Mapping) or set(document) != set(names):
        listed = ", ".join(f"`{name}`" for name in names)
        raise InvalidCertificate(f"This is not a certificate: it must hold {listed}, only.")
    return [document[name] for name in names]


@dataclass(frozen=True, slots=True)
class RunStep:
    """The run that paid for a release, and which of its steps the release is."""

    step: int
    epsilon: Fraction  # the price of the whole run
    delta: Fraction
    question: str | None  # the hash of the question that the run answers, if it answers one

    def to_json(self) -> dict[str, Any]:
        """The run as a certificate states it."""
        price = {"epsilon": str(self.epsilon), "delta": str(self.delta)}
        return {"step": self.step, **price, "question": self.question}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "RunStep":
        """The run that `to_json` wrote; a ValueError, KeyError or TypeError for others."""
        epsilon, delta = (read_rational(read[side]) for side in ("epsilon", "delta"))
        run = cls(read["step"], epsilon, delta, read["question"])
        texts = run.question is None or isinstance(run.question, str)
        counts = type(run.step) is int and run.step > 0
        if run.to_json() != read or not texts or not counts or min(epsilon, delta) < 0:
            raise ValueError("This is not a run.")
        return run

    def __str__(self) -> str:
        price = f"epsilon {self.epsilon} and delta {self.delta}"
        return f"step {self.step} of a run that costs {price} as a whole"


@dataclass(frozen=True, slots=True)
class CertificateContext:
    """What a certificate states about a release in addition to the plan."""

    policy_hash: str
    data_version: str
    analyst: str | None
    position: int  # of the charge in the ledger
    head: Head  # of the ledger, after that charge
    cap: Mapping[str, Any]  # what all releases together may ever cost
    engine: str  # its name
    kernel: Mapping[str, Any]  # what it was told, and what it derived
    run: RunStep | None = None  # None: the release was charged by itself
    plan_hash: str | None = None  # None: computed here
    plan_json: canonical.Json = None  # None: computed here


def certify(
    plan: Plan, answer: Answer, context: CertificateContext, ledger: Ledger
) -> Certificate:
    """The certificate of an answer, signed with the ledger's key."""
    plan_json: Any = context.plan_json or canonical.to_json(plan)
    ledger_id, because = ledger.origin
    run = None if context.run is None else context.run.to_json()
    place = {"position": context.position, "head": asdict(context.head)}
    statement = {
        "format": CERTIFICATE_FORMAT,
        "version": VERSION,
        **write_statement(plan),
        "plan_hash": context.plan_hash or canonical.digest_json(plan_json),
        "policy_hash": context.policy_hash,
        "data_version": context.data_version,
        "answer_hash": fingerprint(answer.table),
        "warnings": list(warn_of_wide_margins(plan, answer)),
        "rehearsal": False,  # a rehearsal gets no certificate
        "engine": context.engine,
        "kernel": dict(context.kernel),
        "software": software_version(),
        "analyst": context.analyst,
        "ledger": {**place, "id": ledger_id, "because": because, "run": run},
        "cap": dict(context.cap),
        "key": ledger.public_key,
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


def document_text(document: dict[str, Any]) -> str:
    """The one way to write a release or a certificate: canonical JSON and a line end.

    >>> document_text({"version": 1, "format": "deniable release"})
    '{"format":"deniable release","version":1}\\n'
    """
    text = canonical.canonical_text(document) + "\n"
    if len(text) > MOST_BYTES:
        raise InvalidParameter(
            f"As JSON this release has more than {MOST_BYTES:,} bytes, and `deniable verify` "
            "would refuse to read it. Hand the rows over with to_arrow(), to_pandas() or "
            "to_polars(), or ask for fewer groups."
        )
    return text


@cache
def software_version() -> str:
    """The name and version of this package."""
    try:
        return f"deniable {metadata.version('deniable')}"
    except metadata.PackageNotFoundError:
        return "deniable"
