"""Verifies a certificate: every number in it is computed again from the certificate itself.

A signature says who made a statement, not that it is right. So, in addition to the signature,
all numbers are computed again from the plan: the sensitivity from the contribution bounds, the
scale from sensitivity and loss, the margins from the scale, and the price from the composed
loss of all mechanisms. Then the whole release is written again from certificate and rows, and
must be the file that was given, byte for byte. This needs no data, no ledger and no network.

Whatever is given, the result is a verified certificate or an `InvalidCertificate`.
"""

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.errors import DeniableError, InvalidCertificate, PlanRefused
from deniable.exact.foreign_text import quoted, read_rational
from deniable.ledger.charges import check_price
from deniable.ledger.ledger import Head
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.privacy import ApproximateLoss
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer, end_columns, margin_columns
from deniable.release.answer.record import fingerprint, read_table
from deniable.release.certificate.certificate import (
    CERTIFICATE_FORMAT,
    VERSION,
    Certificate,
    RunStep,
    document_text,
    signed_message,
)
from deniable.release.certificate.document import (
    RELEASE_FORMAT,
    RELEASE_VERSION,
    write_document,
)
from deniable.release.certificate.interval_checks import wrong_ends
from deniable.release.certificate.kernel_check import KernelCheck
from deniable.release.certificate.margin_checks import (
    choice_margin,
    margins_agree,
    unchecked_outputs,
    wrong_margins,
)
from deniable.release.certificate.sensitivity_checks import check_sensitivities, mismatch
from deniable.release.certificate.statement import noise_margin, write_statement

_MOST_MECHANISMS = 1000  # a question may have as many columns
_DIGITS = re.compile("[0-9a-f]{64}")


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _DIGITS.fullmatch(value) is not None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


# Fields of a statement that do not follow from its plan, and what each must be.
_CONTEXT: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("plan_hash", "policy_hash", "answer_hash", "key"), _is_hash),
    **dict.fromkeys(("data_version", "software", "engine"), _is_text),
    "analyst": lambda value: value is None or _is_text(value),
    "rehearsal": lambda value: value is False,
}


@dataclass(frozen=True, slots=True)
class VerifiedCertificate:
    """A verified certificate, and the checks that it passed."""

    certificate: Certificate
    plan: Plan
    checks: tuple[str, ...]
    signer_known: bool  # whether it was signed with the key that was given


def verify(document: Any, *, key: str | None = None) -> VerifiedCertificate:
    """Checks a release or a certificate, given as JSON text or as a parsed dictionary.

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
    try:
        return _verify(document, key)
    except InvalidCertificate:
        raise
    except Exception as problem:  # numbers far out of range; the message may quote the file
        raise InvalidCertificate(
            "The certificate cannot be checked: its plan holds values that no plan of Deniable "
            f"has ({type(problem).__name__})."
        ) from None


def _verify(document: Any, key: str | None) -> VerifiedCertificate:
    release = _read_document(document)
    if "certificate" in release and release["certificate"] is None:
        raise InvalidCertificate(
            "There is no certificate in this release. If it is a rehearsal, its rows are made "
            "up, and nothing can be certified."
        )
    certificate = Certificate.from_dict(release.get("certificate", release))
    checks = [_check_signature(certificate, key), _check_format(certificate.statement)]
    plan = _read_plan(certificate)
    checks += [
        "the plan matches its hash",
        check_sensitivities(plan),
        _check_price(plan),
        _check_numbers(plan, certificate.statement),
        _check_kernel(plan, certificate.statement),
        _check_ledger_place(plan, certificate),
        _check_cap(plan, certificate.statement),
    ]
    if "certificate" in release:
        answer, rows_check = _check_rows(release, plan, certificate.statement)
        checks += [rows_check, _check_document(release, plan, answer, certificate)]
    return VerifiedCertificate(certificate, plan, tuple(checks), key is not None)


def _read_document(document: Any) -> dict[str, Any]:
    """The release or certificate as a dictionary. Its text must be the one that we write."""
    if isinstance(document, str | bytes):
        text = document
    else:
        try:
            text = document_text(document)
        except (TypeError, ValueError, RecursionError):
            raise InvalidCertificate(
                "A release must be JSON text, or a dictionary that was read from it."
            ) from None
    read = canonical.parse_json(text)
    if not isinstance(read, dict):
        raise InvalidCertificate("A release must be a JSON object that holds a certificate.")
    if "format" in read:
        _check_version(read, "release", RELEASE_FORMAT, RELEASE_VERSION)
    written = document_text(read)
    if text != (written if isinstance(text, str) else written.encode("ascii")):
        raise InvalidCertificate(
            "This file was changed: its spaces, the order of its fields, the way in which a "
            "number or a character is written, or its end. Get it again, byte for byte."
        )
    return read


def _check_version(fields: Mapping[str, Any], what: str, format_: str, version: int) -> None:
    number = fields.get("version")
    if fields.get("format") == format_ and type(number) is int and number > version:
        raise InvalidCertificate(
            f"This {what} is of version {number}. This version of Deniable knows versions up "
            f"to {version} and cannot say what a later one means. Try a newer version."
        )
    if fields.get("format") != format_ or type(number) is not int or not 1 <= number <= version:
        raise InvalidCertificate(
            f"This is not a {what} of Deniable: its format must be {format_!r} and its version "
            f"at most {version}."
        )


def _check_signature(certificate: Certificate, key: str | None) -> str:
    if key is not None and key.strip().lower() != certificate.key:
        raise InvalidCertificate(
            "This certificate is signed with another key, "
            f"{quoted(certificate.fingerprint)}..., not with the key given, "
            f"{quoted(key.strip()[:16])}..."
        )
    if not signature_is_valid(
        signed_message(certificate.statement), certificate.signature, certificate.key
    ):
        raise InvalidCertificate(
            "The signature does not fit the statement: one of them was changed."
        )
    if key is None:
        return f"signed, but by whom is unknown: with the key {certificate.fingerprint}..."
    return f"signed with the key given, {certificate.fingerprint}..."


def _check_format(statement: Mapping[str, Any]) -> str:
    _check_version(statement, "certificate", CERTIFICATE_FORMAT, VERSION)
    return f"a certificate of version {statement['version']}"


def _read_plan(certificate: Certificate) -> Plan:
    if canonical.digest_json(dict(certificate.plan)) != certificate.statement.get("plan_hash"):
        raise InvalidCertificate(
            "The plan does not match the hash in the statement (`plan_hash`)."
        )
    plan = canonical.from_json(dict(certificate.plan))
    if not isinstance(plan, Plan) or not (
        plan.blocks or plan.choices or plan.thresholding or plan.distances
    ):
        raise InvalidCertificate("The certificate's `plan` is not a plan with a mechanism.")
    if len(plan.blocks) + len(plan.choices) > _MOST_MECHANISMS:
        raise InvalidCertificate(
            f"The plan has more than {_MOST_MECHANISMS:,} mechanisms, which no question needs."
        )
    if canonical.canonical_text(canonical.to_json(plan)) != canonical.canonical_text(
        dict(certificate.plan)
    ):
        raise InvalidCertificate("The plan is not written in its canonical form.")
    return plan


def _check_kernel(plan: Plan, statement: Mapping[str, Any]) -> str:
    """The kernel must derive the stated movements from the SQL and the stated facts."""
    try:
        check = KernelCheck.from_json(plan, statement["kernel"])
    except PlanRefused as problem:
        told = quoted(str(problem))
        raise InvalidCertificate(f"The kernel does not agree with the plan: {told}") from None
    engine = None if statement["engine"] == "DuckDB" else "the engine"
    if "text" in statement["kernel"]:
        engine = quoted(str(statement["engine"]))
    told = check.describe(engine, unit="privacy unit")
    return f"SQL, sensitivities and loss agree: {told}"


def _check_price(plan: Plan) -> str:
    try:
        check_price(plan, to_draw=False)  # nothing is drawn here, and tables take long
    except DeniableError as problem:
        raise InvalidCertificate(f"The price is wrong: {problem}") from None
    return "the composed loss of all mechanisms fits the price"


def _check_numbers(plan: Plan, statement: Mapping[str, Any]) -> str:
    """The signed statement must be the one that follows from the plan."""
    for output in plan.outputs:
        computed = noise_margin(plan, output)
        stated = output.margin if not (output.estimated or output.margin_in) else None
        if computed is not None and stated is not None and not margins_agree(stated, computed):
            raise mismatch(f"plan.outputs.{output.name}.margin", stated, computed)
    for choice in plan.choices:
        ranks = choice_margin(choice, plan.confidence)
        reach = getattr(choice.mechanism, "reach", choice.margin)
        if ranks is not None and not choice.margin == ranks == reach:
            raise mismatch(f"the margin of {choice.about}", (choice.margin, reach), ranks)
    follows = write_statement(plan)
    _compare(follows, {name: statement.get(name) for name in follows})
    _check_context(statement, set(follows))
    return "unit, sensitivities, scales, losses and margins follow from the plan"


def _check_context(statement: Mapping[str, Any], others: set[str]) -> None:
    """What does not follow from the plan must be there, of the right type, and be all."""
    fields = {"format", "version", "kernel", "ledger", "cap", "warnings", *_CONTEXT}
    if strangers := set(statement) - others - fields:
        named = ", ".join(quoted(name) for name in sorted(strangers))
        raise InvalidCertificate(f"Unknown fields in the statement: {named}.")
    if missing := fields - set(statement):
        raise InvalidCertificate(f"Missing in the statement: {', '.join(sorted(missing))}.")
    for name, is_right in _CONTEXT.items():
        if not is_right(statement[name]):
            raise InvalidCertificate(f"Invalid `{name}` in the statement.")


def _compare(ours: Any, theirs: Any, place: str = "") -> None:
    if isinstance(ours, dict) and isinstance(theirs, dict) and set(ours) == set(theirs):
        for name, value in ours.items():
            _compare(value, theirs[name], f"{place}.{name}".strip("."))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (value, other) in enumerate(zip(ours, theirs, strict=True)):
            _compare(value, other, f"{place}[{i}]")
    elif isinstance(ours, float) and type(theirs) in (int, float):
        if not margins_agree(theirs, ours):
            raise mismatch(place, theirs, ours)
    elif type(ours) is not type(theirs) or ours != theirs:
        raise mismatch(place, theirs, ours)


def _check_ledger_place(plan: Plan, certificate: Certificate) -> str:
    """The ledger's head must be signed with the same key and not be older than the charge."""
    place = certificate.statement["ledger"]
    try:
        position, head = place["position"], Head(**place["head"])
        known = set(place) == {"position", "head", "id", "because", "run"}
        known = known and type(place["id"]) is type(place["because"]) is str
        paid = None if place["run"] is None else RunStep.from_json(place["run"])
    except (KeyError, TypeError, ValueError):
        known = False
    if not known or not type(position) is type(head.number) is int:
        raise InvalidCertificate(
            "Invalid `ledger` in the statement: it must hold a position, a signed head, an id, "
            "a reason and a run."
        )
    signed = signature_is_valid(head.message, head.signature, certificate.key)
    if certificate.statement["key"] != certificate.key or not signed:
        raise InvalidCertificate(
            "The statement, or the ledger's head in it, names another key than the signer's."
        )
    if not 0 <= position <= head.number:
        raise InvalidCertificate("The ledger's head in this certificate predates the charge.")
    if paid is not None and not _fits_cap(plan, paid.epsilon, paid.delta):
        raise InvalidCertificate("The release costs more than the run that paid for it.")
    again = f" (begun because {quoted(place['because'])})" if place["because"] else ""
    where = f"entry {position} of the ledger{again}; its head then was entry {head.number}"
    return f"charged as {where}" if paid is None else f"charged as {paid}, {where}"


def _check_cap(plan: Plan, statement: Mapping[str, Any]) -> str:
    """One release may not cost more than the cap on all releases."""
    cap = statement["cap"]
    try:
        epsilon, delta = (read_rational(cap[name]) for name in ("epsilon", "delta"))
        known = set(cap) == {"epsilon", "delta", "by"}
        if cap["by"] is not None:
            datetime.date.fromisoformat(cap["by"])
    except (KeyError, TypeError, ValueError):
        known = False
    if not known or [str(epsilon), str(delta)] != [cap["epsilon"], cap["delta"]]:
        raise InvalidCertificate(
            "Invalid `cap` in the statement: it must hold an epsilon, a delta and a date."
        )
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


def _check_rows(
    release: Mapping[str, Any], plan: Plan, statement: Mapping[str, Any]
) -> tuple[Answer, str]:
    table = read_table(release.get("columns"), release.get("rows"))
    if fingerprint(table) != statement["answer_hash"]:
        raise InvalidCertificate("The rows do not match the hash in the certificate.")
    ends = end_columns(plan) if statement["version"] > 1 else {}
    answer = Answer(table, margin_columns(plan), ends)
    wrong = (*wrong_margins(plan, table), *wrong_ends(plan, answer))
    for column, stated, computed in wrong:
        raise mismatch(f"rows.{quoted(column)}", stated, computed)
    unchecked = unchecked_outputs(plan)
    if not unchecked:
        return answer, (
            "the rows are those that were released, and their margins follow from the noise"
        )
    return answer, (
        "the rows are those that were released; margins not checked, because they depend on "
        f"integers that are not released: {', '.join(map(quoted, unchecked))}"
    )


def _check_document(
    release: Mapping[str, Any], plan: Plan, answer: Answer, certificate: Certificate
) -> str:
    """The release must be the one that follows from its certificate and its rows."""
    follows = write_document(plan, answer, certificate)
    if list(follows["notes"]) != [*plan.notes, *certificate.statement["warnings"]]:
        raise mismatch("warnings", certificate.statement["warnings"], follows["notes"])
    if strangers := set(release) - set(follows):
        named = ", ".join(quoted(name) for name in sorted(strangers))
        raise InvalidCertificate(f"Nobody signed these fields of the release: {named}.")
    for name, ours in follows.items():
        theirs = release.get(name)
        if canonical.canonical_text(theirs) != canonical.canonical_text(ours):
            raise mismatch(name, theirs, ours)
    return "everything else in the release follows from its certificate, byte for byte"
