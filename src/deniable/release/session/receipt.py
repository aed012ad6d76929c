"""What a ledger keeps of an answer, so that the same question can be answered again."""

import base64
import json

from deniable.errors import LedgerBroken
from deniable.ledger.signing_keys import verified
from deniable.release.answer.answer import Answer
from deniable.release.answer.record import fingerprint, kept, restored
from deniable.release.certificate.certificate import Certificate, message

LARGEST = 4 << 20  # bytes of a table that is kept; who asks for more again pays again


def receipt(answer: Answer, certificate: Certificate) -> str | None:
    """The answer and its certificate as text; None for one that is too large to keep."""
    if answer.table.nbytes > LARGEST:
        return None
    rows = base64.b64encode(kept(answer)).decode("ascii")
    return json.dumps({"answer": rows, "certificate": certificate.to_dict()})


def received(
    record: str, public_key: str, *, plan_hash: str, version: str
) -> tuple[Answer, Certificate]:
    """What was kept, if it still is what was signed, as the answer to this very question."""
    found = json.loads(record)
    certificate = Certificate.from_dict(found["certificate"])
    answer = restored(base64.b64decode(found["answer"]))
    signed = verified(message(certificate.statement), certificate.signature, public_key)
    asked = {"plan_hash": plan_hash, "data_version": version}
    asked["answer_hash"] = fingerprint(answer.table)
    if not signed or any(certificate.statement[k] != one for k, one in asked.items()):
        raise LedgerBroken(
            "A kept answer is not the one that was released: the ledger was changed. "
            "`deniable ledger verify` says where; fresh=True asks anew."
        )
    return answer, certificate
