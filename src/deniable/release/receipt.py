"""What a ledger keeps of an answer, so that the same question can be answered again."""

import base64
import json

from deniable.release.answer import Answer
from deniable.release.certificate import Certificate
from deniable.release.record import kept, restored

LARGEST = 4 << 20  # bytes of a table that is kept; who asks for more again pays again


def receipt(answer: Answer, certificate: Certificate) -> str | None:
    """The answer and its certificate as text; None for one that is too large to keep."""
    if answer.table.nbytes > LARGEST:
        return None
    rows = base64.b64encode(kept(answer)).decode("ascii")
    return json.dumps({"answer": rows, "certificate": certificate.to_dict()})


def received(record: str) -> tuple[Answer, Certificate]:
    """What was kept."""
    found = json.loads(record)
    certificate = Certificate.from_dict(found["certificate"])
    return restored(base64.b64decode(found["answer"])), certificate
