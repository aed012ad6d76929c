"""SQL over released rows that a server has answered: checked here before a row is handed over.

The server releases the private parts, runs the SQL on their rows and signs what came out. Here
the question was divided in the same way, so that the SQL and the parts are known beforehand.
"""

import base64
from collections.abc import Mapping
from typing import Any

from deniable.client.remote_ledger import read_remaining
from deniable.errors import LedgerBroken
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.release.answer.record import from_bytes
from deniable.release.asking.outer_question import OuterPlan
from deniable.release.asking.outer_release import OuterRelease, outer_message, state_outer
from deniable.release.certificate.outer_certificate import OuterCertificate
from deniable.release.session.release import Release
from deniable.release.session.release_records import ReleaseRecords


def read_outer(
    outer_plan: OuterPlan, records: ReleaseRecords, outcome: Mapping[str, Any]
) -> OuterRelease:
    """The release that the server's outcome states, if the pinned key signed exactly this: the
    SQL that was asked, over these parts, with these rows."""
    left = read_remaining(outcome["remaining"])
    repeated, kept = bool(outcome["repeated"]), bool(outcome["kept"])
    inner: dict[str, Release] = {}
    for name, plan in outer_plan.plans.items():
        answer, certificate = records.read_kept(plan, outcome["parts"][name])
        inner[name] = Release(
            plan, answer, left, certificate=certificate, repeated=repeated, kept=kept
        )
    rows = from_bytes(base64.b64decode(outcome["answer"], validate=True))
    notes = tuple(str(note) for note in outcome["statement"]["notes"])
    key = records.ledger.public_key
    statement = state_outer(rows, inner, outer_plan.divided.outer, notes, key)
    signature = str(outcome["signature"])
    if not signature_is_valid(outer_message(statement), signature, key):
        raise LedgerBroken(
            "The rows that the server sent are not signed with the pinned key for this "
            "question. They are not handed over."
        )
    last = list(inner.values())[-1]
    return OuterRelease(
        last.plan,
        rows,
        left,
        certificate=last.certificate,
        repeated=repeated,
        kept=kept,
        inner=inner,
        outer=outer_plan.divided.outer,
        outer_notes=notes,
        outer_certificate=OuterCertificate(statement, signature),
    )
