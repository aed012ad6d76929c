"""Verifies a certificate: every number in it is computed again from the certificate itself.

A signature says who made a statement, not that it is right. So, in addition to the signature,
all numbers are computed again from the plan: the sensitivity from the contribution bounds, the
scale from sensitivity and loss, the margins from the scale, and the price from the composed
loss of all mechanisms. This needs no data, no ledger and no network.
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
    """A verified certificate, and the checks that it passed."""

    certificate: Certificate
    plan: Plan
    checks: tuple[str, ...]


def verify(document: Any, *, key: str | None = None) -> VerifiedCertificate:
    """Checks a release or a certificate, given as JSON text or as a parsed dictionary.

    `key` is the public key that must have signed it. Without it, the key in the certificate is
    used: compare that key with the owner's. Raises `InvalidCertificate` at the first fault.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1] * 100}), epsilon=1)
    >>> answer = data.sql("SELECT COUNT(*) AS n FROM data", epsilon=0.5)
    >>> verify(answer.to_json()).checks[3]
    'every sensitivity covers all that one privacy unit can change'
    """
    release = canonical.parse_json(document) if isinstance(document, str | bytes) else document
    if not isinstance(release, dict):
        raise InvalidCertificate("A release must be a JSON object that holds a certificate.")
    if release.get("rehearsal") is True and release.get("certificate") is None:
        raise InvalidCertificate(
            "This release is a rehearsal: its rows are made up, so it has no certificate."
        )
    certificate = Certificate.from_dict(release.get("certificate", release))
    checks = [_check_signature(certificate, key), _check_format(certificate.statement)]
    plan = _read_plan(certificate)
    checks += [
        "the plan matches its hash",
        _check_sensitivities(plan),
        _check_price(plan),
        _check_numbers(plan, certificate.statement),
        _check_ledger_place(certificate),
        _check_cap(plan, certificate.statement),
    ]
    if "certificate" in release:
        checks += [
            _check_rows(release, plan, certificate.statement),
            _check_release_fields(release, plan),
        ]
    return VerifiedCertificate(certificate, plan, tuple(checks))


def _check_signature(certificate: Certificate, key: str | None) -> str:
    if key is not None and key.strip().lower() != certificate.key.lower():
        raise InvalidCertificate(
            f"This certificate is signed with another key, {certificate.fingerprint}..., not "
            f"with the key given, {key.strip()[:16]}..."
        )
    if not signature_is_valid(
        signed_message(certificate.statement), certificate.signature, certificate.key
    ):
        raise InvalidCertificate(
            "The signature does not fit the statement: one of them was changed."
        )
    whose = "the key given" if key is not None else "the key that it names"
    return f"signed with {whose}, {certificate.fingerprint}..."


def _check_format(statement: Mapping[str, Any]) -> str:
    for name, value in _FORMAT.items():
        if statement.get(name) != value:
            raise InvalidCertificate(
                f"The {name} of this certificate is {statement.get(name)!r}; this version of "
                f"Deniable knows only {value!r}. Try a newer version."
            )
    return f"a certificate of version {VERSION}"


def _read_plan(certificate: Certificate) -> Plan:
    if canonical.digest_json(dict(certificate.plan)) != certificate.statement.get("plan_hash"):
        raise InvalidCertificate(
            "The plan does not match the hash in the statement (`plan_hash`)."
        )
    plan = canonical.from_json(dict(certificate.plan))
    if not isinstance(plan, Plan) or not (plan.blocks or plan.choices or plan.thresholding):
        raise InvalidCertificate("The certificate's `plan` is not a plan with a mechanism.")
    if canonical.canonical_text(canonical.to_json(plan)) != canonical.canonical_text(
        dict(certificate.plan)
    ):
        raise InvalidCertificate("The plan is not written in its canonical form.")
    return plan


def _check_sensitivities(plan: Plan) -> str:
    """No sensitivity may be below what one unit can change, by the plan's own bounds."""
    checked = 0
    for block in plan.blocks:
        if block.reach is None:
            continue
        checked += 1
        l1, square = block.reach.sensitivities(
            groups=plan.max_groups_per_unit,
            rows=plan.max_rows_per_unit_per_group,
            neighbors=plan.neighbors,
            keyed=bool(plan.keys),
        )
        gaussian = isinstance(block.mechanism, Gaussian)
        has = block.mechanism.sensitivity ** (2 if gaussian else 1)
        needs = l1 if not gaussian else l1**2 if plan.other else square
        if block.reach.size != len(block.features) or has < needs:
            raise _mismatch(f"the sensitivity of {block.about}", str(has), str(needs))
    rule = plan.thresholding
    if rule is not None and (
        rule.groups < plan.max_groups_per_unit or rule.neighbors != plan.neighbors
    ):
        raise _mismatch("the groups of one unit", rule.groups, plan.max_groups_per_unit)
    for choice in plan.choices:
        checked += 1
        if choice.changes < (needs := plan.least_changes(choice)):
            raise _mismatch(
                f"the sensitivity of {choice.about}", str(choice.changes), str(needs)
            )
    if checked == len(plan.blocks) + len(plan.choices):
        return "every sensitivity covers all that one privacy unit can change"
    return f"{checked} sensitivities cover all that one privacy unit can change"


def _check_price(plan: Plan) -> str:
    try:
        check_price(plan)
    except DeniableError as problem:
        raise InvalidCertificate(f"The price is wrong: {problem}") from None
    return "the composed loss of all mechanisms fits the price"


def _check_numbers(plan: Plan, statement: Mapping[str, Any]) -> str:
    """The signed statement must be the one that follows from the plan."""
    for output in plan.outputs:
        computed = noise_margin(plan, output)
        stated = output.margin if not (output.estimated or output.margin_in) else None
        if computed is not None and stated is not None and not margins_agree(stated, computed):
            raise _mismatch(f"plan.outputs.{output.name}.margin", stated, computed)
    for choice in plan.choices:
        ranks = choice_margin(choice, plan.confidence)
        if ranks is not None and choice.margin != ranks:
            raise _mismatch(f"the margin of {choice.about}", choice.margin, ranks)
    _compare(
        write_statement(plan),
        {k: v for k, v in statement.items() if k not in {*_FORMAT, *_CONTEXT_FIELDS}},
    )
    missing = _CONTEXT_FIELDS - set(statement)
    if missing:
        raise InvalidCertificate(f"Missing in the statement: {', '.join(sorted(missing))}.")
    return "unit, sensitivities, scales, losses and margins follow from the plan"


def _compare(ours: Any, theirs: Any, place: str = "") -> None:
    if isinstance(ours, dict) and isinstance(theirs, dict) and set(ours) == set(theirs):
        for name, value in ours.items():
            _compare(value, theirs[name], f"{place}.{name}".strip("."))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (value, other) in enumerate(zip(ours, theirs, strict=True)):
            _compare(value, other, f"{place}[{i}]")
    elif isinstance(ours, float) and type(theirs) in (int, float):
        if not margins_agree(theirs, ours):
            raise _mismatch(place, theirs, ours)
    elif type(ours) is not type(theirs) or ours != theirs:
        raise _mismatch(place, theirs, ours)


def _mismatch(place: str, stated: object, computed: object) -> InvalidCertificate:
    def short(value: object) -> str:
        text = repr(value)
        return text if len(text) < 60 else f"{text[:57]}..."

    return InvalidCertificate(
        f"The certificate is wrong: it states {short(stated)} for {place or 'the statement'}, "
        f"but its own plan gives {short(computed)}."
    )


def _check_ledger_place(certificate: Certificate) -> str:
    """The ledger's head must be signed with the same key and not be older than the charge."""
    try:
        position = certificate.statement["ledger"]["position"]
        head = Head(**certificate.statement["ledger"]["head"])
        signed = signature_is_valid(head.message, head.signature, certificate.key)
        later = head.number >= position
    except (KeyError, TypeError, AttributeError):
        raise InvalidCertificate(
            "Invalid `ledger` in the statement: it must hold a position and a signed head."
        ) from None
    if not (signed and later):
        raise InvalidCertificate(
            "The ledger's head in this certificate is not signed with its key, or is older "
            "than the charge."
        )
    return f"charged as entry {position} of the ledger; its head then was entry {head.number}"


def _check_cap(plan: Plan, statement: Mapping[str, Any]) -> str:
    """One release may not cost more than the cap on all releases."""
    cap = statement["cap"]
    try:
        epsilon, delta = (Fraction(str(cap[name])) for name in ("epsilon", "delta"))
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise InvalidCertificate(
            "Invalid `cap` in the statement: it must hold an epsilon and a delta."
        ) from None
    if not _fits_cap(plan, epsilon, delta):
        raise InvalidCertificate("The release costs more than the cap on all releases.")
    return f"within the cap on all releases, epsilon {cap['epsilon']} and delta {cap['delta']}"


def _fits_cap(plan: Plan, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether the price fits, or the loss: a ledger with several filters may grant by that."""
    if plan.epsilon <= epsilon and plan.delta <= delta:
        return True
    try:
        return plan.loss.fits(ApproximateLoss(epsilon, delta))
    except DeniableError:
        return False


def _check_release_fields(release: Mapping[str, Any], plan: Plan) -> str:
    """The other fields of a release must match its certificate."""
    notes, cost = release.get("notes"), {"epsilon": str(plan.epsilon), "delta": str(plan.delta)}
    fields: dict[str, tuple[object, object]] = {
        "cost": (release.get("cost"), cost),
        "confidence": (release.get("confidence"), float(plan.confidence)),
        "rehearsal": (release.get("rehearsal"), False),
        "margins": (release.get("margins"), margin_columns(plan)),
    }
    if isinstance(notes, list):
        fields["notes"] = (notes[: len(plan.notes)], list(plan.notes))
    for name, (theirs, ours) in fields.items():
        if name in release and theirs != ours:
            raise _mismatch(name, theirs, ours)
    return "cost, confidence and notes of the release match its certificate"


def _check_rows(release: Mapping[str, Any], plan: Plan, statement: Mapping[str, Any]) -> str:
    table = read_table(release.get("columns", ()), release.get("rows", ()))
    if fingerprint(table) != statement["answer_hash"]:
        raise InvalidCertificate("The rows do not match the hash in the certificate.")
    for column, stated, computed in wrong_margins(plan, table):
        raise _mismatch(f"rows.{column}", stated, computed)
    unchecked = unchecked_outputs(plan)
    if not unchecked:
        return "the rows are those that were released, and their margins follow from the noise"
    return (
        "the rows are those that were released; margins not checked, because they depend on "
        f"integers that are not released: {', '.join(unchecked)}"
    )
