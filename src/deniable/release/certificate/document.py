"""A release as it is handed over. It follows from the certificate and the rows, to the byte.

The certificate's statement holds, or has the hash of, everything in the document. So a verifier
can write the document again and compare: nothing can be added to it, left out or written in
another way.
"""

from typing import Any

from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.record import columns, rows
from deniable.release.answer.wide_margins import warn_of_wide_margins
from deniable.release.certificate.certificate import Certificate

RELEASE_FORMAT = "deniable release"
RELEASE_VERSION = 2  # version 1 had no `intervals`, and no columns of ends


def write_document(
    plan: Plan, answer: Answer, certificate: Certificate | None
) -> dict[str, Any]:
    """The release as a dictionary for JSON. A rehearsal has no certificate.

    A release has the version of its certificate.
    """
    version = RELEASE_VERSION if certificate is None else certificate.statement["version"]
    ends = {name: list(names) for name, names in answer.ends.items()}
    return {
        "format": RELEASE_FORMAT,
        "version": version,
        **({} if version == 1 else {"intervals": ends}),
        "columns": columns(answer.table),
        "rows": rows(answer.table),
        "margins": dict(answer.margins),
        "confidence": float(plan.confidence),
        "cost": {"epsilon": str(plan.epsilon), "delta": str(plan.delta)},
        "notes": [*plan.notes, *warn_of_wide_margins(plan, answer)],
        "rehearsal": certificate is None,
        "certificate": None if certificate is None else certificate.to_dict(),
    }
