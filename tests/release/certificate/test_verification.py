"""A correctly signed certificate with a wrong number in it is refused; every true one holds."""

import copy
import json
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidCertificate, PlanRefused
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.mechanisms import Gaussian, Laplace, PermuteAndFlip, Thresholding
from deniable.query.language.parse import parse
from deniable.query.plan import canonical
from deniable.query.planner.planner import plan as planned
from deniable.release.answer.answer_table import Answer
from deniable.release.certificate.certificate import (
    Certificate,
    CertificateContext,
    certify,
    document_text,
    signed_message,
)
from deniable.release.certificate.kernel_check import KernelCheck, facts_about
from deniable.release.certificate.statement import noise_margin
from deniable.release.certificate.verification import verify
from tests.query.hospital import policy

CASES = sorted((Path(__file__).parents[2] / "query" / "cases").glob("*.sql"))
QUESTIONS = {
    "laplace": ("SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward", {}),
    "gaussian": (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        {"epsilon": 0.1, "delta": 1e-4},
    ),
    "private": (
        "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis",
        {"delta": 1e-5},
    ),
}


@pytest.fixture(scope="module")
def session():
    frame = pa.table(
        {
            "patient": [i * 7 % 400 for i in range(2000)],
            "ward": ["ABC"[i % 3] for i in range(2000)],
            "diagnosis": [f"J{i % 7}" for i in range(2000)],
            "cost": [float(i % 500) for i in range(2000)],
        }
    )
    with dp.protect(
        frame,
        name="visits",
        unit="patient",
        max_groups_per_unit=3,
        max_rows_per_unit_per_group=4,
        bounds={"cost": (0, 500)},
        keys={"ward": ["A", "B", "C"], "diagnosis": "private"},
        epsilon=10,
        delta=1e-3,
    ) as opened:
        yield opened


@pytest.fixture(scope="module", params=QUESTIONS)
def document(request, session):
    sql, wishes = QUESTIONS[request.param]
    return session.sql(sql, **{"epsilon": 1, **wishes}).to_dict()


@pytest.fixture
def signed(session):
    """Signs whatever it is given with the owner's own key, as a dishonest owner could."""

    def sign(answer, *, rehash=True):
        certificate = answer["certificate"]
        if rehash:
            certificate["statement"]["plan_hash"] = canonical.digest_json(certificate["plan"])
        text = signed_message(certificate["statement"])
        certificate["signature"]["value"] = session.ledger.sign(text)
        return json.loads(json.dumps(answer))

    return sign


def stated(plan, policy):
    """What a certificate states about the kernel; of a plan that it refuses, only the facts."""
    try:
        return KernelCheck.of(plan, policy).to_json()
    except PlanRefused:
        tables = facts_about(plan, policy).tables
        return {"tables": [asdict(table) for table in tables], "moves": []}


def context(session, plan, cap=None, policy=None):
    """A place in the ledger, a cap, and what the kernel says."""
    head, cap = session.ledger.head, cap or {"epsilon": "10", "delta": "1/1000"}
    placed = ("0" * 64, "", None, head.number, head, {**cap, "by": None})
    kernel = stated(plan, policy or session.policy)
    return CertificateContext(*placed, engine="DuckDB", kernel=kernel)


def test_a_true_certificate_holds(document, session):
    verification = verify(document, key=session.ledger.public_key)
    assert verification.plan.epsilon == Fraction(document["cost"]["epsilon"])
    assert len(verification.checks) == 11
    assert verify(document_text(document)).checks[1:] == verification.checks[1:]


def test_a_certificate_alone_holds(document):
    assert len(verify(document["certificate"]).checks) == 9


def test_the_questions_use_the_noise_that_they_are_meant_to(session):
    plans = {
        name: session.plan(sql, **{"epsilon": 1, **wishes})
        for name, (sql, wishes) in QUESTIONS.items()
    }
    assert isinstance(plans["laplace"].blocks[0].mechanism, Laplace)
    assert isinstance(plans["gaussian"].blocks[0].mechanism, Gaussian)
    assert isinstance(plans["private"].thresholding, Thresholding)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_golden_plan_can_be_certified_and_verified(path, session):
    first, _, *sql = path.read_text().splitlines()
    which = {"person": {}, "row": {"person": False}, "replace": {"neighbors": "replace"}}
    known = policy(**which[first.removeprefix("-- policy: ")])
    plan = planned(parse("\n".join(sql)), known, epsilon=0.5)
    placed = context(session, plan, {"epsilon": "1", "delta": "1"}, known)
    answer = Answer(pa.table({"n": [1]}), {})
    certificate = certify(plan, answer, placed, session.ledger)
    assert verify(certificate.to_dict()).plan == plan


def test_the_rest_of_all_groups_moves_by_all_that_a_unit_has(session):
    """A unit's groups may all end up in it, where they add up: L2 is then as large as L1."""
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    wishes = {"epsilon": 0.1, "delta": 1e-4}
    plan, without = (session.plan(sql, other=each, **wishes) for each in (True, False))
    squares = [round(each.blocks[0].mechanism.sensitivity ** 2) for each in (plan, without)]
    assert squares == [144, 48]
    (block,) = plan.blocks
    narrow = Gaussian(
        variance=without.blocks[0].mechanism.variance, sensitivity=block.mechanism.sensitivity
    )
    placed = context(session, plan, {"epsilon": "1", "delta": "1"})
    answer = Answer(pa.table({"n": [1]}), {})
    assert verify(certify(plan, answer, placed, session.ledger).to_dict())
    bad = replace(plan, blocks=(replace(block, mechanism=narrow),))
    with pytest.raises(InvalidCertificate, match="price"):
        verify(certify(bad, answer, placed, session.ledger).to_dict())
    bad = replace(plan, blocks=without.blocks)
    with pytest.raises(InvalidCertificate, match="sensitivity"):
        verify(certify(bad, answer, placed, session.ledger).to_dict())


def leaves(value, path=()):
    """Every value in a statement, with the way to it."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from leaves(part, (*path, i))
    else:
        yield path, value


def changed(value):
    if value is None:
        return "1"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 2 + 1
    try:
        return str(Fraction(value) / 2 + Fraction(1, 7))
    except ValueError:
        return value + "x"


FREE = {
    "policy_hash",
    "data_version",
    "software",
    "engine",
    "analyst",
}  # nothing in it can check these
# Nor these, nor what the owner says about the tables.
UNKNOWN = {("cap", "by"), ("ledger", "id"), ("ledger", "because")}


def test_no_number_of_the_statement_can_be_falsified(document, signed):
    """Each in turn is changed and signed again, with the right key: refused, every time."""
    statement = document["certificate"]["statement"]
    count = 0
    for path, value in leaves(statement):
        if path[0] in FREE or path in UNKNOWN or path[:2] == ("kernel", "tables"):
            continue
        bad = copy.deepcopy(document)
        place = bad["certificate"]["statement"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = changed(value)
        if path[0] == "cap":  # a larger cap cannot be known to be false
            place[path[-1]] = "-1"
        with pytest.raises(InvalidCertificate):
            verify(signed(bad, rehash=False))
        count += 1
    assert count > 30


def test_what_is_missing_or_added_is_found(document, signed):
    for name in document["certificate"]["statement"]:
        bad = copy.deepcopy(document)
        del bad["certificate"]["statement"][name]
        with pytest.raises(InvalidCertificate):
            verify(signed(bad, rehash=False))
    bad = copy.deepcopy(document)
    bad["certificate"]["statement"]["promise"] = "none"
    with pytest.raises(InvalidCertificate):
        verify(signed(bad))


def falsified(session, change):
    """A release of a plan that was changed; statement and signature are made for that one."""
    sql, wishes = QUESTIONS["laplace"]
    release = session.sql(sql, epsilon=1, **wishes)
    plan = change(release.plan)
    placed = context(session, plan)
    certificate = certify(plan, release.answer, placed, session.ledger)
    return release.to_dict() | {"certificate": certificate.to_dict()}


def noisier(plan, **changes):
    blocks = [
        replace(block, mechanism=Laplace(**asdict(block.mechanism) | changes))
        for block in plan.blocks
    ]
    return replace(plan, blocks=tuple(blocks))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda plan: noisier(plan, sensitivity=Fraction(1)), "sensitivity"),
        (lambda plan: noisier(plan, epsilon=Fraction(3)), "price"),
        (lambda plan: replace(plan, epsilon=plan.epsilon / 2), "price"),
        (lambda plan: replace(plan, epsilon=-plan.epsilon), "price"),
        (lambda plan: replace(plan, max_groups_per_unit=100), "sensitivity"),
        (lambda plan: replace(plan, max_rows_per_unit_per_group=100), "sensitivity"),
        (lambda plan: replace(plan, neighbors="replace"), "sensitivity"),
        (
            lambda plan: replace(
                plan, outputs=tuple(replace(output, margin=0.5) for output in plan.outputs)
            ),
            "margin",
        ),
        (
            lambda plan: replace(
                plan,
                thresholding=Thresholding(epsilon=1, delta=1e-9, groups=1),
                delta=Fraction(1, 10**9),
            ),
            "groups|price",
        ),
        (lambda plan: replace(plan, blocks=(), outputs=()), "not a plan"),
        (lambda plan: replace(plan, confidence=Fraction(999, 1000)), "rows|margin"),
    ],
    ids=[
        *("sensitivity", "loss", "epsilon", "negative", "groups", "rows", "neighbors"),
        *("margin", "delta", "no noise", "confidence"),
    ],
)
def test_a_plan_with_wrong_arithmetic_is_refused_however_well_signed(session, change, told):
    with pytest.raises(InvalidCertificate, match=told):
        verify(falsified(session, change))


def test_the_same_way_of_making_it_holds_for_the_true_plan(session):
    assert verify(falsified(session, lambda plan: plan))


@pytest.mark.parametrize(
    ("sql", "change"),
    [
        ("SELECT MEDIAN(cost) AS m FROM visits", {"changes": 1}),
        ("SELECT MODE(ward) AS m FROM visits", {"mechanism": PermuteAndFlip(epsilon=1)}),
        ("SELECT MEDIAN(cost) AS m FROM visits", {"changes": 400}),  # at the same noise
    ],
    ids=["quantile", "mode", "price"],
)
def test_choices_are_checked_too(session, sql, change):
    plan = session.plan(sql, epsilon=1)
    placed = context(session, plan)
    answer = Answer(pa.table({"n": [1]}), {})
    assert verify(certify(plan, answer, placed, session.ledger).to_dict())
    (choice,) = plan.choices
    bad = replace(plan, choices=(replace(choice, **change),))
    with pytest.raises(InvalidCertificate, match=r"sensitivity|price"):
        verify(certify(bad, answer, placed, session.ledger).to_dict())


@pytest.mark.parametrize("change", [{"groups": 1}, {"neighbors": "replace"}], ids=str)
def test_a_threshold_is_for_all_groups_of_a_unit(session, change):
    """It costs the same for fewer groups, and hides less."""
    sql, wishes = QUESTIONS["private"]
    plan = session.plan(sql, epsilon=1, **wishes)
    rule = plan.thresholding
    known = {name: getattr(rule, name) for name in ("epsilon", "delta", "groups", "neighbors")}
    bad = replace(plan, thresholding=Thresholding(**known | change))
    placed = context(session, plan)
    answer = Answer(pa.table({"n": [1]}), {})
    assert verify(certify(plan, answer, placed, session.ledger).to_dict())
    with pytest.raises(InvalidCertificate, match="the groups of one unit"):
        verify(certify(bad, answer, placed, session.ledger).to_dict())


def test_a_plan_has_one_way_to_be_written(session, signed):
    """Else one plan would have several hashes, and one question several answers."""
    sql, wishes = QUESTIONS["laplace"]
    document = session.sql(sql, epsilon=1, **wishes).to_dict()
    assert verify(signed(copy.deepcopy(document)))
    assert "part" not in document["certificate"]["plan"]
    document["certificate"]["plan"]["part"] = canonical.to_json(())
    with pytest.raises(InvalidCertificate, match="canonical"):
        verify(signed(document))


def test_a_falsified_delta_is_refused(session):
    sql, wishes = QUESTIONS["private"]
    release = session.sql(sql, epsilon=1, **wishes)
    plan = replace(release.plan, delta=release.plan.delta / 2)
    placed = context(session, plan)
    certificate = certify(plan, release.answer, placed, session.ledger)
    with pytest.raises(InvalidCertificate, match="price"):
        verify(certificate.to_dict())


def test_rows_that_were_changed_are_found(document, signed):
    for path, value in leaves(document["rows"]):
        bad = copy.deepcopy(document)
        bad["rows"][path[0]][path[1]] = changed(value)
        with pytest.raises(InvalidCertificate):
            verify(bad)
    bad = copy.deepcopy(document)
    bad["rows"].pop()
    with pytest.raises(InvalidCertificate, match="rows"):
        verify(bad)


def test_margins_in_the_rows_are_checked_even_if_their_hash_was_signed(session, signed):
    release = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    table = release.answer.table
    narrow = pa.table({"n": table["n"], "n_margin": pa.array([1])})
    record = replace(release, answer=replace(release.answer, table=narrow)).to_dict()
    from deniable.release.answer.record import fingerprint

    record["certificate"]["statement"]["answer_hash"] = fingerprint(narrow)
    with pytest.raises(InvalidCertificate, match="n_margin"):
        verify(signed(record))


def test_another_key_is_refused(document, session):
    stranger = SigningKey.new()
    with pytest.raises(InvalidCertificate, match="another key"):
        verify(document, key=stranger.public)
    bad = copy.deepcopy(document)
    bad["certificate"]["signature"]["key"] = stranger.public
    with pytest.raises(InvalidCertificate, match="does not fit"):
        verify(bad)
    # Signed by a stranger throughout: who gives the owner's key notices.
    text = signed_message(bad["certificate"]["statement"])
    bad["certificate"]["signature"]["value"] = stranger.sign(text)
    with pytest.raises(InvalidCertificate, match="another key"):
        verify(bad, key=session.ledger.public_key)


def test_a_signature_over_something_else_does_not_count(document, session):
    bad = copy.deepcopy(document)
    text = canonical.canonical_text(bad["certificate"]["statement"]).encode()
    bad["certificate"]["signature"]["value"] = session.ledger.sign(text)  # no purpose in front
    with pytest.raises(InvalidCertificate, match="does not fit"):
        verify(bad)


@pytest.mark.parametrize(
    "bad",
    ["", "[]", "{}", "null", '{"certificate": null}', '{"certificate": {"statement": {}}}'],
)
def test_what_is_no_certificate_is_refused(bad):
    with pytest.raises(InvalidCertificate):
        verify(bad)


def test_a_later_version_is_not_guessed_at(document, signed):
    bad = copy.deepcopy(document)
    bad["certificate"]["statement"]["version"] = 3
    with pytest.raises(InvalidCertificate, match="version"):
        verify(signed(bad))


def test_certificates_come_through_json_unchanged(document):
    certificate = Certificate.from_dict(document["certificate"])
    assert certificate.to_dict() == document["certificate"]
    assert certificate.fingerprint in repr(certificate)


@pytest.mark.parametrize(
    "lie",
    [
        {"cost": {"epsilon": "1/1000", "delta": "0"}},
        {"confidence": 0.999999},
        {"rehearsal": True},
        {"notes": []},
        {"margins": {}},
    ],
    ids=lambda lie: next(iter(lie)),
)
def test_what_a_release_says_beside_its_certificate_is_checked_too(session, lie):
    part = session.partition("ward", ["A"])["A"]
    document = part.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5).to_dict()
    assert document["notes"]
    assert "byte for byte" in verify(document).checks[-1]
    with pytest.raises(InvalidCertificate, match=next(iter(lie))):
        verify(document | lie)


def test_a_rehearsal_has_nothing_to_verify():
    release = dp.rehearse(policy()).sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    with pytest.raises(InvalidCertificate, match="rehearsal"):
        verify(release.to_json())


def test_what_another_filter_granted_is_within_the_cap(session):
    """A Gaussian at a tiny delta has an epsilon above the cap's, and yet fits the cap."""
    dear = Gaussian.calibrated(sensitivity=1, epsilon=1.1, delta=1e-9)
    plan = session.plan("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    (block,) = plan.blocks
    scaled = Gaussian(variance=dear.variance * 16, sensitivity=block.mechanism.sensitivity)
    plan = replace(plan, epsilon=Fraction(11, 10), delta=Fraction(1, 10**9))
    plan = replace(plan, blocks=(replace(block, mechanism=scaled),))
    (output,) = plan.outputs
    margin = noise_margin(plan, output)
    plan = replace(plan, outputs=(replace(output, margin=margin),))
    for cap, holds in ((Fraction(1), True), (Fraction(1, 10), False)):
        told = {"epsilon": str(cap), "delta": "1/1000000"}
        placed = context(session, plan, told)
        answer = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1).answer
        certificate = certify(plan, answer, placed, session.ledger).to_dict()
        if holds:
            assert verify(certificate)
            continue
        with pytest.raises(InvalidCertificate, match="cap"):
            verify(certificate)
