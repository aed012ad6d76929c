"""The certificate of SQL over released rows: the private parts, the SQL and the rows it made.

Every private part has a certificate of its own, which says what it costs and protects. This one
ties them to the SQL that was run on their rows, and to the rows that came out. It adds no loss.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.errors import InvalidCertificate
from deniable.exact.foreign_text import quoted
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.query.plan import canonical
from deniable.release.answer.record import columns, fingerprint, read_table, rows
from deniable.release.certificate.verification import VerifiedCertificate, verify

OUTER_FORMAT = "deniable outer release"
OUTER_VERSION = 1
_PURPOSE = b"deniable outer certificate 1\n"  # no other signed message begins like this
_FIELDS = {"format", "version", "columns", "rows", "inner", "statement", "signature"}
_STATED = {"outer", "inner", "answer_hash", "margins", "notes", "confidence", "key"}


@dataclass(frozen=True, slots=True)
class OuterCertificate:
    """What is signed about the rows that SQL made of released rows."""

    statement: Mapping[str, Any]
    signature: str

    @property
    def key(self) -> str:
        """The signer's public key, in hexadecimal."""
        return str(self.statement["key"])


def outer_message(statement: Mapping[str, Any]) -> bytes:
    """The bytes that are signed."""
    return _PURPOSE + canonical.canonical_text(dict(statement)).encode("ascii")


def state_inner(name: str, certificate: Mapping[str, Any]) -> dict[str, str]:
    """What the statement says about a private part: its name and the hash of its certificate.
    Everything else in its release follows from that."""
    return {"name": name, "certificate_hash": canonical.digest_json(dict(certificate))}


def write_outer_document(
    table: Any, inner: Mapping[str, Mapping[str, Any]], certificate: OuterCertificate | None
) -> dict[str, Any]:
    """The rows, all private parts and the certificate. A rehearsal has no certificate."""
    return {
        "format": OUTER_FORMAT,
        "version": OUTER_VERSION,
        "columns": columns(table),
        "rows": rows(table),
        "inner": {name: dict(document) for name, document in inner.items()},
        "statement": None if certificate is None else dict(certificate.statement),
        "signature": None if certificate is None else certificate.signature,
    }


@dataclass(frozen=True, slots=True)
class VerifiedOuter:
    """A verified release of SQL over released rows, and the checks that it passed."""

    certificate: OuterCertificate
    inner: tuple[VerifiedCertificate, ...]
    checks: tuple[str, ...]
    signer_known: bool  # whether it was signed with the key that was given


def verify_outer(document: Any, *, key: str | None = None) -> VerifiedOuter:
    """Checks a release of SQL over released rows, with each of its private parts.

    Raises `InvalidCertificate` at the first fault.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1, 2] * 50}), keys={"x": [1, 2]}, epsilon=1)
    >>> inner = "SELECT x, COUNT(*) AS n FROM data GROUP BY x"
    >>> answer = data.sql(f"SELECT SUM(n) AS s FROM ({inner})", epsilon=0.5)
    >>> verify_outer(answer.to_dict()).checks[-1]
    'the rows are those that the SQL made of them when they were released'
    """
    try:
        return _verify(document, key)
    except InvalidCertificate:
        raise
    except Exception as problem:  # the message may quote the file
        raise InvalidCertificate(
            f"This release cannot be checked ({type(problem).__name__})."
        ) from None


def _verify(document: Any, key: str | None) -> VerifiedOuter:
    _require(isinstance(document, Mapping) and set(document) == _FIELDS, "other fields")
    version = document["format"] == OUTER_FORMAT and document["version"] == OUTER_VERSION
    _require(version, "another format or version")
    statement = document["statement"]
    if statement is None:
        raise InvalidCertificate(
            "There is no certificate in this release. If it is a rehearsal, its rows are made "
            "up, and nothing can be certified."
        )
    _require(set(statement) == _STATED, "other fields in its statement")
    signer = statement["key"]
    _require(key is None or key.strip().lower() == signer, "another key than the one given")
    signed = signature_is_valid(outer_message(statement), document["signature"], signer)
    _require(signed, "a signature that does not fit its statement")
    inner = document["inner"]
    parts = tuple(verify(inner[stated["name"]], key=signer) for stated in statement["inner"])
    own = [state_inner(name, document["certificate"]) for name, document in inner.items()]
    same = own == list(statement["inner"])
    _require(same and bool(parts), "other private parts than it states")
    table = read_table(document["columns"], document["rows"])
    _require(fingerprint(table) == statement["answer_hash"], "other rows than it states")
    written = [columns(table), rows(table)] == [document["columns"], document["rows"]]
    _require(written, "rows that are written in another way")
    checks = (
        f"signed with the key {quoted(signer[:16])}...",
        f"all {len(parts)} private parts are certified, each by itself",
        f"the SQL over them is {quoted(statement['outer'][:200])}",
        "the rows are those that the SQL made of them when they were released",
    )
    certificate = OuterCertificate(statement, document["signature"])
    return VerifiedOuter(certificate, parts, checks, key is not None)


def _require(holds: bool, fault: str) -> None:
    if not holds:
        raise InvalidCertificate(f"This release has {fault}.")
