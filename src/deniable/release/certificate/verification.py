"""Whether a certificate holds: everything in it is found again, from nothing but itself.

A signature says who made a statement, not that it adds up. So beside the signature all
numbers are made anew from the plan: the sensitivity from what one unit may contribute, the
scale from sensitivity and loss, the margins from the scale, and the price from the losses of
all mechanisms together. No data, no ledger and no network are needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.errors import DeniableError, InvalidCertificate
from deniable.ledger.ledger import Head, check_price
from deniable.ledger.signing_keys import signature_is_valid
from deniable.mechanisms import Gaussian
from deniable.privacy import ApproximateLoss
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer import margin_columns
from deniable.release.answer.record import fingerprint, read_table
from deniable.release.certificate.certificate import VERSION, Certificate, signed_message
from deniable.release.certificate.margin_checks import (
    choice_margin,
    margins_agree,
    unchecked_outputs,
    wrong_margins,
)
from deniable.release.certificate.statement import noise_margin, write_statement

_FORMAT = {"format": "deniable certificate", "version": VERSION}
_CONTEXT_FIELDS = {
    *("plan_hash", "policy_hash", "data_version", "answer_hash"),
    *("software", "analyst", "ledger", "cap"),
}


@dataclass(frozen=True, slots=True)
class VerifiedCertificate:
    """A certificate that holds, and what was checked to say so."""

    certificate: Certificate
    plan: Plan
    checks: tuple[str, ...]


def verify(document: Any, *, key: str | None = None) -> VerifiedCertificate:
    """Checks a release, or a certificate alone, in JSON or read from it.

    `key` is the public key that must have signed it; without one, the key that it names is
    taken, and whose that is remains to be seen. Raises `InvalidCertificate` at the first fault.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1] * 100}), epsilon=1)
    >>> answer = data.sql("SELECT COUNT(*) AS n FROM data", epsilon=0.5)
    >>> verify(answer.to_json()).checks[3]
    "every sensitivity covers what one unit's rows can do"
    """
    found = canonical.parse_json(document) if isinstance(document, str | bytes) else document
    if not isinstance(found, dict):
        raise InvalidCertificate("A release is a JSON object with a certificate in it.")
    if found.get("rehearsal") is True and found.get("certificate") is None:
        raise InvalidCertificate(
            "This is a rehearsal: its rows were made up, so nothing is certified about it."
        )
    certificate = Certificate.from_dict(found.get("certificate", found))
    checks = [_check_signature(certificate, key), _check_format(certificate.statement)]
    plan = _read_plan(certificate)
    checks += [
        "the plan is the one that the hash names",
        _check_sensitivities(plan),
        _check_price(plan),
        _check_numbers(plan, certificate.statement),
        _check_ledger_place(certificate),
        _check_cap(plan, certificate.statement),
    ]
    if "certificate" in found:
        checks += [
            _check_rows(found, plan, certificate.statement),
            _check_release_fields(found, plan),
        ]
    return VerifiedCertificate(certificate, plan, tuple(checks))


def _check_signature(certificate: Certificate, key: str | None) -> str:
    if key is not None and key.strip().lower() != certificate.key.lower():
        raise InvalidCertificate(
            f"This certificate is signed with another key, {certificate.fingerprint}..., than "
            f"the one given, {key.strip()[:16]}..."
        )
    if not signature_is_valid(
        signed_message(certificate.statement), certificate.signature, certificate.key
    ):
        raise InvalidCertificate(
            "The signature does not fit the statement: one of the two was changed."
        )
    whose = "the key given" if key is not None else "the key that it names"
    return f"signed with {whose}, {certificate.fingerprint}..."


def _check_format(statement: Mapping[str, Any]) -> str:
    for name, value in _FORMAT.items():
        if statement.get(name) != value:
            raise InvalidCertificate(
                f"The {name} of this certificate is {statement.get(name)!r}, and {value!r} is "
                "the one known here. A newer version of Deniable may know it."
            )
    return f"a certificate of version {VERSION}"


def _read_plan(certificate: Certificate) -> Plan:
    if canonical.digest_json(dict(certificate.plan)) != certificate.statement.get("plan_hash"):
        raise InvalidCertificate(
            "The plan is not the one that the statement names by its hash."
        )
    plan = canonical.from_json(dict(certificate.plan))
    if not isinstance(plan, Plan) or not (plan.blocks or plan.choices or plan.thresholding):
        raise InvalidCertificate("What stands there as the plan is none.")
    if canonical.canonical_text(canonical.to_json(plan)) != canonical.canonical_text(dict(certificate.plan)):
        raise InvalidCertificate("The plan is not written in its canonical form.")
    return plan


def _check_sensitivities(plan: Plan) -> str:
    """None may be below what one unit can do, by what the plan says about its rows."""
    known = 0
    for block in plan.blocks:
        if block.reach is None:
            continue
        known += 1
        l1, square = block.reach.sensitivities(
            groups=plan.max_groups_per_unit,
            rows=plan.max_rows_per_unit_per_group,
            neighbors=plan.neighbors,
            keyed=bool(plan.keys),
        )
        curved = isinstance(block.mechanism, Gaussian)
        has = block.mechanism.sensitivity ** (2 if curved else 1)
        needs = l1 if not curved else l1**2 if plan.other else square
        if block.reach.size != len(block.features) or has < needs:
            raise _mismatch(f"the sensitivity of {block.about}", str(has), str(needs))
    rule = plan.thresholding
    if rule is not None and (
        rule.groups < plan.max_groups_per_unit or rule.neighbors != plan.neighbors
    ):
        raise _mismatch("the groups of one unit", rule.groups, plan.max_groups_per_unit)
    for choice in plan.choices:
        known += 1
        if choice.changes < (needs := plan.least_changes(choice)):
            raise _mismatch(
                f"the sensitivity of {choice.about}", str(choice.changes), str(needs)
            )
    all_known = known == len(plan.blocks) + len(plan.choices)
    every = "every sensitivity" if all_known else f"{known} sensitivities"
    return f"{every} covers what one unit's rows can do"


def _check_price(plan: Plan) -> str:
    try:
        check_price(plan)
    except DeniableError as problem:
        raise InvalidCertificate(f"The price is wrong: {problem}") from None
    return "the losses of all mechanisms together fit the price"


def _check_numbers(plan: Plan, statement: Mapping[str, Any]) -> str:
    """The statement, made anew from the plan, must be the one that was signed."""
    for output in plan.outputs:
        certain = noise_margin(plan, output)
        told = output.margin if not (output.estimated or output.margin_in) else None
        if certain is not None and told is not None and not margins_agree(told, certain):
            raise _mismatch(f"plan.outputs.{output.name}.margin", told, certain)
    for choice in plan.choices:
        again = choice_margin(choice, plan.confidence)
        if again is not None and choice.margin != again:
            raise _mismatch(f"the margin of {choice.about}", choice.margin, again)
    _compare(
        write_statement(plan),
        {k: v for k, v in statement.items() if k not in {*_FORMAT, *_CONTEXT_FIELDS}},
    )
    missing = _CONTEXT_FIELDS - set(statement)
    if missing:
        raise InvalidCertificate(f"The statement lacks {', '.join(sorted(missing))}.")
    return "unit, sensitivities, scales, losses and margins were found again"


def _compare(ours: Any, theirs: Any, place: str = "") -> None:
    if isinstance(ours, dict) and isinstance(theirs, dict) and set(ours) == set(theirs):
        for name, one in ours.items():
            _compare(one, theirs[name], f"{place}.{name}".strip("."))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            _compare(one, other, f"{place}[{i}]")
    elif isinstance(ours, float) and type(theirs) in (int, float):
        if not margins_agree(theirs, ours):
            raise _mismatch(place, theirs, ours)
    elif type(ours) is not type(theirs) or ours != theirs:
        raise _mismatch(place, theirs, ours)


def _mismatch(place: str, told: object, found: object) -> InvalidCertificate:
    def short(value: object) -> str:
        text = repr(value)
        return text if len(text) < 60 else f"{text[:57]}..."

    return InvalidCertificate(
        f"The certificate does not add up: it says {short(told)} for {place or 'itself'}, and "
        f"its own plan makes {short(found)}."
    )


def _check_ledger_place(certificate: Certificate) -> str:
    """The head of the ledger, signed with the same key and not older than the charge."""
    try:
        position = certificate.statement["ledger"]["position"]
        head = Head(**certificate.statement["ledger"]["head"])
        signed = signature_is_valid(head.message, head.signature, certificate.key)
        later = head.number >= position
    except (KeyError, TypeError, AttributeError):
        raise InvalidCertificate("The place in the ledger is not one.") from None
    if not (signed and later):
        raise InvalidCertificate(
            "The ledger's head in this certificate is not signed with its key, or is older "
            "than the charge."
        )
    return f"charged as entry {position} of the ledger, whose head then was {head.number}"


def _check_cap(plan: Plan, statement: Mapping[str, Any]) -> str:
    """One release cannot cost more than all of them may."""
    cap = statement["cap"]
    try:
        epsilon, delta = (Fraction(str(cap[name])) for name in ("epsilon", "delta"))
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise InvalidCertificate("The cap is not one of epsilon and delta.") from None
    if not _fits_cap(plan, epsilon, delta):
        raise InvalidCertificate("The release costs more than the cap on all releases.")
    return f"within the cap on all releases, epsilon {cap['epsilon']} and delta {cap['delta']}"


def _fits_cap(plan: Plan, epsilon: Fraction, delta: Fraction) -> bool:
    """By its price; or by its loss, as a ledger with several filters may have granted it."""
    if plan.epsilon <= epsilon and plan.delta <= delta:
        return True
    try:
        return plan.loss.fits(ApproximateLoss(epsilon, delta))
    except DeniableError:
        return False


def _check_release_fields(found: Mapping[str, Any], plan: Plan) -> str:
    """What a release says beside its certificate is what the certificate says."""
    notes, margins = found.get("notes"), found.get("margins")
    told: dict[str, tuple[object, object]] = {
        "cost": (found.get("cost"), {"epsilon": str(plan.epsilon), "delta": str(plan.delta)}),
        "confidence": (found.get("confidence"), float(plan.confidence)),
        "rehearsal": (found.get("rehearsal"), False),
        "margins": (margins, margin_columns(plan)),
    }
    if isinstance(notes, list):
        told["notes"] = (notes[: len(plan.notes)], list(plan.notes))
    for name, (theirs, ours) in told.items():
        if name in found and theirs != ours:
            raise _mismatch(name, theirs, ours)
    return "cost, confidence and notes of the release are those of its certificate"


def _check_rows(found: Mapping[str, Any], plan: Plan, statement: Mapping[str, Any]) -> str:
    table = read_table(found.get("columns", ()), found.get("rows", ()))
    if fingerprint(table) != statement["answer_hash"]:
        raise InvalidCertificate("The rows are not those that the certificate was made for.")
    for column, told, again in wrong_margins(plan, table):
        raise _mismatch(f"rows.{column}", told, again)
    held = "the rows are those that were released, with the margins that the noise makes"
    rest = unchecked_outputs(plan)
    if not rest:
        return held
    return f"{held}, but for {', '.join(rest)}: these hang on integers not handed over"
