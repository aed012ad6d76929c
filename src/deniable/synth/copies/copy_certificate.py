"""One certificate for a whole copy: its measurements, noise, loss and scorecard, signed.

The statement holds the hash of the delivered rows, and of the certificate of every step. So
anyone who has the document can check everything again: each step by itself, that all steps
belong to one charged run and add up to at most its rho, that the price follows from rho, and
that the scorecard follows from the last step. It needs no data, no ledger and no network.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import pyarrow as pa

from deniable.errors import InvalidCertificate
from deniable.exact.foreign_text import quoted
from deniable.exact.text_formats import percent
from deniable.ledger.ledger import Ledger
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.mechanisms import Gaussian
from deniable.privacy import ApproximateLoss, ConcentratedLoss
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.release.answer.record import fingerprint
from deniable.release.certificate.label import Label, describe_strength
from deniable.release.certificate.verification import VerifiedCertificate, verify
from deniable.release.session.release import Release
from deniable.synth.copies.scorecard import Scorecard

COPY_FORMAT, COPY_VERSION = "deniable copy", 1
_PURPOSE = b"deniable copy 1\n"  # no other signed message begins like this
_FIELDS = {"format", "version", "statement", "signature", "releases"}


@dataclass(frozen=True, slots=True, repr=False)
class CopyCertificate:
    """A signed statement about a copy, and the certified releases that it was made from."""

    statement: Mapping[str, Any]
    signature: str
    releases: tuple[Mapping[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """The document for JSON."""
        return {
            "format": COPY_FORMAT,
            "version": COPY_VERSION,
            "statement": dict(self.statement),
            "signature": self.signature,
            "releases": [dict(release) for release in self.releases],
        }

    @property
    def key(self) -> str:
        """The public key that it was signed with."""
        return str(self.statement["key"])

    @property
    def label(self) -> Label:
        """What the certificate states, in words for the people in the data."""
        return make_copy_label(self.statement)

    def __repr__(self) -> str:
        loss = self.statement["loss"]
        return f"<certificate of a copy: epsilon {loss['epsilon']}, delta {loss['delta']}>"


def certify_copy(
    facts: Mapping[str, Any],
    rows: "pa.Table",
    scorecard: Scorecard,
    releases: Sequence[Release],
    ledger: Ledger,
) -> CopyCertificate | None:
    """The certificate of a copy; None for a rehearsal. `facts` are those of its plan."""
    written = [release.to_dict() for release in releases]
    if any(document["certificate"] is None for document in written):
        return None
    statement = {
        **facts,
        "rows": len(rows),
        "rows_hash": fingerprint(rows),
        "steps": [_hash(document) for document in written],
        "scorecard": write_scorecard(scorecard),
        "key": ledger.public_key,
    }
    return CopyCertificate(statement, ledger.sign(_message(statement)), tuple(written))


def write_scorecard(card: Scorecard) -> dict[str, Any]:
    """The errors of a scorecard, for JSON."""
    return {
        "confidence": str(card.confidence),
        "errors": [[list(e.columns), e.error, e.low, e.high] for e in card.errors],
    }


def verify_copy(
    document: Any, *, rows: "pa.Table | None" = None, key: str | None = None
) -> tuple[str, ...]:
    """Checks the certificate of a copy, and its rows if they are given; returns the checks.

    Raises `InvalidCertificate` at the first fault.

    >>> import deniable as dp
    >>> people = pa.table({"old": [True, False] * 200, "sick": [True, False] * 200})
    >>> with dp.protect(people, epsilon=1, delta=1e-6) as data:
    ...     copy = data.copy(epsilon=1)
    >>> verify_copy(copy.certificate.to_dict(), rows=copy.to_arrow())[-1]
    'the rows are those that were delivered'
    """
    try:
        return tuple(_verify(document, rows, key))
    except InvalidCertificate:
        raise
    except Exception as problem:
        raise InvalidCertificate(
            f"The certificate of this copy cannot be checked ({type(problem).__name__})."
        ) from None


def _verify(document: Any, rows: "pa.Table | None", key: str | None) -> list[str]:
    _require(isinstance(document, Mapping) and set(document) == _FIELDS, "other fields")
    known = document["format"] == COPY_FORMAT and document["version"] == COPY_VERSION
    _require(known, "another format or version")
    statement, signer = document["statement"], document["statement"]["key"]
    _require(key is None or key.strip().lower() == signer, "another key than the one given")
    signed = signature_is_valid(_message(statement), document["signature"], signer)
    _require(signed, "a signature that does not fit its statement")
    steps = [verify(release, key=signer) for release in document["releases"]]
    same = [_hash(release) for release in document["releases"]] == list(statement["steps"])
    _require(same and bool(steps), "other steps than it states")
    _check_run(statement, steps)
    _check_scorecard(statement, document["releases"][-1], steps[-1].plan)
    checks = [
        f"signed with the key {quoted(signer[:16])}...",
        f"all {len(steps)} steps are certified, each by itself",
        "they are one charged run, and add up to at most its rho; the price follows from rho",
        "the scorecard follows from the last step",
    ]
    if rows is not None:
        _require(fingerprint(rows) == statement["rows_hash"], "other rows than those given")
        checks.append("the rows are those that were delivered")
    return checks


def _check_run(statement: Mapping[str, Any], steps: Sequence[VerifiedCertificate]) -> None:
    """All steps of one run, in order, within its rho; before them keys, at their own price."""
    rho = Fraction(statement["rho"])
    price = ApproximateLoss(
        *(Fraction(statement["loss"][side]) for side in ("epsilon", "delta"))
    )
    _require(ConcentratedLoss(rho).fits(price), "a price below its loss")
    places = [step.certificate.statement["ledger"] for step in steps]
    paid = [place for place in places if place["run"] is not None]
    keys = [step for step in steps if step.certificate.statement["ledger"]["run"] is None]
    one_run = len({place["position"] for place in paid}) == 1
    in_order = [place["run"]["step"] for place in paid] == list(range(1, len(paid) + 1))
    _require(one_run and in_order, "steps of several runs, or not all of one")
    spent = sum((_rho(step.plan) for step in steps if step not in keys), Fraction(0))
    _require(spent <= rho, "steps that cost more than it states")
    cost = [Fraction(0), Fraction(0)]
    for step in keys:
        cost = [cost[0] + step.plan.epsilon, cost[1] + step.plan.delta]
    stated = [Fraction(statement["keys"][side]) for side in ("epsilon", "delta")]
    _require(cost[0] <= stated[0] and cost[1] <= stated[1], "keys beyond their price")


def _rho(plan: Plan) -> Fraction:
    rho = plan.loss.rho
    _require(rho is not None, "a step that has no rho")
    assert rho is not None
    return Fraction(rho)


def _check_scorecard(
    statement: Mapping[str, Any], release: Mapping[str, Any], plan: Plan
) -> None:
    distances = plan.distances
    _require(
        distances is not None and isinstance(distances.mechanism, Gaussian), "no scorecard"
    )
    assert distances is not None
    assert isinstance(distances.mechanism, Gaussian)
    row = release["rows"][0]
    card = Scorecard.read(
        [tuple(columns) for columns, *_ in statement["scorecard"]["errors"]],
        [row[output.name] / distances.scale for output in plan.outputs],
        deviation=sqrt(distances.mechanism.variance + 1) / distances.scale,
        rounding=[len(table.model) / (2 * distances.scale) for table in distances.tables],
        total=float(statement["total"]),
        confidence=Fraction(statement["scorecard"]["confidence"]),
    )
    same = canonical.canonical_text(write_scorecard(card)) == canonical.canonical_text(
        statement["scorecard"]
    )
    _require(same, "another scorecard than its last step gives")


def make_copy_label(statement: Mapping[str, Any]) -> Label:
    """The privacy label of a copy."""
    epsilon, delta = (
        Fraction(statement["loss"][side]) + Fraction(statement["keys"][side])
        for side in ("epsilon", "delta")
    )
    lines, guesses = describe_strength(epsilon, delta)
    unit = statement["unit"]
    who = f"Each {quoted(unit)}" if unit else "Each row"
    errors = sorted(statement["scorecard"]["errors"], key=lambda error: -error[1])
    level = percent(Fraction(statement["scorecard"]["confidence"]))
    sections = (
        ("Whose privacy", (f"{who} of {quoted(statement['table'])} is protected.",)),
        ("How much anyone can learn about one of them", lines),
        (
            "What was done to the data",
            (
                f"{len(statement['steps'])} noisy answers were measured (method "
                f"{quoted(statement['method'])}). The {statement['rows']:,} rows were made "
                "from these alone: they are not people.",
            ),
        ),
        (
            "How far the rows are from the table",
            (
                "0: equal, 2: nothing in common. The worst tables:",
                *(
                    f"{', '.join(map(quoted, columns))}: {low:.3f} to {high:.3f}"
                    for columns, _, low, high in errors[:3]
                ),
                f"All these intervals hold together at {level}.",
            ),
        ),
        ("Where this label comes from", (f"Signed with the key {quoted(statement['key'])}.",)),
    )
    return Label(sections, guesses, Fraction(1))


def _hash(release: Mapping[str, Any]) -> str:
    return canonical.digest_json(dict(release["certificate"]["statement"]))


def _message(statement: Mapping[str, Any]) -> bytes:
    return _PURPOSE + canonical.canonical_text(dict(statement)).encode("ascii")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InvalidCertificate(f"The certificate of this copy is wrong: it has {what}.")
