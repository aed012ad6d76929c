"""What was measured about an answer's limits, kept in the ledger: later sessions quote it.

The note is a sentence that follows from released numbers. It is kept under the statement that
it is about, on the same version of the data, and signed like every kept answer. An analyst who
did not pay for the measurement does not get it.
"""

import json

from deniable.errors import LedgerBroken
from deniable.exact.foreign_text import read_json
from deniable.ledger.ledger import Ledger
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan

_PURPOSE = "deniable limits 1"  # no other signed message begins like this


def note_key(plan: Plan) -> str:
    """The name under which a note about a plan's statement is kept."""
    return canonical.digest_json([_PURPOSE, plan.table, plan.engine_sql])


def can_have_note(plan: Plan) -> bool:
    """Whether limits may have been measured for a plan: for one count over declared groups."""
    declared = plan.thresholding is None and not plan.choices and plan.distances is None
    return declared and plan.unit is not None and len(plan.features) == 1


def write_note(ledger: Ledger, plan: Plan, version: str, text: str) -> str:
    """The signed note, as a ledger keeps it."""
    signature = ledger.sign(_message(plan, version, text))
    return json.dumps({"note": text, "signature": signature})


def read_note(ledger: Ledger, plan: Plan, version: str, analyst: str | None) -> str:
    """The note that a ledger keeps about a plan's statement, or an empty text."""
    answer = ledger.recall(plan_hash=note_key(plan), version=version, analyst=analyst)
    if answer is None:
        return ""
    try:
        fields = read_json(answer.record)
        text, signature = str(fields["note"]), str(fields["signature"])
        signed = signature_is_valid(_message(plan, version, text), signature, ledger.public_key)
    except (ValueError, KeyError, TypeError):
        signed = False
    if not signed:
        raise LedgerBroken(
            "A kept measurement of limits differs from the one that was released: the ledger "
            "was changed. `deniable ledger verify` shows where."
        )
    return text


def _message(plan: Plan, version: str, text: str) -> bytes:
    return canonical.canonical_text([_PURPOSE, note_key(plan), version, text]).encode("ascii")
