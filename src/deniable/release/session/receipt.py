"""The copy of an answer that a ledger keeps, so that the same question costs nothing again."""

import base64
import json

import pyarrow as pa

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.exact.foreign_text import read_json
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.record import fingerprint, from_bytes, to_bytes
from deniable.release.certificate.certificate import Certificate, signed_message

VERSION = 1  # of kept answers
MAX_KEPT_BYTES = 4 << 20  # larger tables are not kept: asking again is charged again


def write_receipt(answer: Answer, certificate: Certificate) -> str | None:
    """The answer and its certificate as text; None if the answer is too large to keep."""
    if answer.table.nbytes > MAX_KEPT_BYTES:
        return None
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


def _later_version(found: object) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"The kept answer is of version {found}. This version of Deniable knows version "
        f"{VERSION} and cannot say what a later one means. Use a newer version of Deniable, or "
        "pay for a new answer with fresh=True. Nothing was released."
    )
