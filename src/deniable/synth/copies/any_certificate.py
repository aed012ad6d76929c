"""Verifies whatever Deniable signs for publication: releases, certificates, and copies."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.errors import InvalidCertificate
from deniable.query.plan import canonical
from deniable.release.certificate import verification
from deniable.release.certificate.certificate import document_text
from deniable.release.certificate.outer_certificate import (
    OUTER_FORMAT,
    VerifiedOuter,
    verify_outer,
)
from deniable.release.certificate.verification import VerifiedCertificate

if TYPE_CHECKING:
    from deniable.synth.copies.copy_certificate import CopyCertificate

_COPY = "deniable copy"  # the format of a copy's certificate


@dataclass(frozen=True, slots=True)
class VerifiedCopy:
    """The verified certificate of a copy, and the checks that it passed."""

    certificate: "CopyCertificate"
    checks: tuple[str, ...]
    signer_known: bool  # whether it was signed with the key that was given


def verify(
    document: Any, *, key: str | None = None
) -> VerifiedCertificate | VerifiedCopy | VerifiedOuter:
    """Checks a release, a certificate, or the certificate of a copy, given as JSON text or as a
    parsed dictionary.

    `key` is the public key that must have signed it. Without it, the key in the certificate is
    used, and `signer_known` is false: compare that key with the owner's. Raises
    `InvalidCertificate` at the first fault.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1] * 100}), epsilon=1)
    >>> answer = data.sql("SELECT COUNT(*) AS n FROM data", epsilon=0.5)
    >>> verify(answer.to_json()).checks[3]
    'every sensitivity covers all that one privacy unit can change'
    """
    read = _read_other(document)
    if read is None:
        return verification.verify(document, key=key)
    if read["format"] == OUTER_FORMAT:
        return verify_outer(read, key=key)
    from deniable.synth.copies.copy_certificate import CopyCertificate, verify_copy

    checks = verify_copy(read, key=key)
    own = CopyCertificate(read["statement"], read["signature"], tuple(read["releases"]))
    return VerifiedCopy(own, checks, key is not None)


def _read_other(document: Any) -> dict[str, Any] | None:
    """The certificate of a copy, or a release of SQL over released rows; None for all other
    documents, which are read elsewhere."""
    if isinstance(document, dict):
        return document if document.get("format") in (_COPY, OUTER_FORMAT) else None
    try:
        read = canonical.parse_json(document)
    except Exception:
        return None
    if not isinstance(read, dict) or read.get("format") not in (_COPY, OUTER_FORMAT):
        return None
    written = document_text(read)
    if document != (written if isinstance(document, str) else written.encode("ascii")):
        raise InvalidCertificate("This file was changed. Get it again, byte for byte.")
    return read
