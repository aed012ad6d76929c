"""Files made to deceive, to crash or to fill the memory: each is refused, in words, at once."""

import copy
import json
import pickle
import random
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidCertificate
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.query.plan import canonical
from deniable.release.certificate import certificate as certificates
from deniable.release.certificate.certificate import Certificate, document_text, signed_message
from deniable.release.certificate.label import label_title, make_label
from deniable.release.certificate.label_page import label_page
from deniable.release.certificate.verification import verify
from tests.release.certificate import mutations

SEED = 14
QUESTIONS = [
    ("SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward", {}),
    ("SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis", {"delta": 1e-5}),
    ("SELECT MEDIAN(cost) AS m, MODE(ward) AS w FROM visits", {}),
    ("SELECT number, COUNT(*) AS n FROM visits GROUP BY number LIMIT 3", {}),
    ("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", {"epsilon": 0.1, "delta": 1e-4}),
]


@pytest.fixture(scope="module")
def session():
    frame = pa.table(
        {
            "ward": ["ABC"[i % 3] for i in range(900)],
            "diagnosis": [f"J{i % 3}" for i in range(900)],
            "cost": [float(i % 500) for i in range(900)],
            "number": list(range(900)),
        }
    )
    keys = {"ward": ["A", "B", "C"], "diagnosis": "private", "number": range(2000)}
    with dp.protect(
        frame, name="visits", bounds={"cost": (0, 500)}, keys=keys, epsilon=20, delta=1e-3
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def documents(session):
    answers = [session.sql(sql, **{"epsilon": 1} | wishes) for sql, wishes in QUESTIONS]
    return [answer.to_dict() for answer in answers]


@pytest.fixture
def document(documents):
    return copy.deepcopy(documents[0])


def test_what_is_true_holds(documents, session):
    """Else a verifier that refuses everything would pass the other tests."""
    for document in documents:
        for true in (document, document["certificate"]):
            assert verify(document_text(true), key=session.ledger.public_key).signer_known
            assert not verify(document_text(true).encode()).signer_known


ADDED = {
    "note": lambda document: document["notes"].append("The true count is exactly 150"),
    "left": lambda document: document.update(left={"epsilon": "1000000", "delta": "0"}),
    "engine": lambda document: document.update(engine="another"),
    "rows": lambda document: [row.update(truth=150) for row in document["rows"]],
    "columns": lambda document: document["columns"][1].update(exact=True),
    "margins": lambda document: document["margins"].update(ward="n_margin"),
    "cost": lambda document: document["cost"].update(refund="1"),
    "certificate": lambda document: document["certificate"].update(seal="royal"),
    "signature": lambda document: document["certificate"]["signature"].update(by="the king"),
    "version": lambda document: document.update(version=1.0),
    "rehearsal": lambda document: document.update(rehearsal=0),
}


@pytest.mark.parametrize("added", ADDED.values(), ids=ADDED)
def test_nothing_is_vouched_for_that_nobody_signed(document, session, added):
    added(document)
    for given in (document, document_text(document)):
        with pytest.raises(InvalidCertificate):
            verify(given, key=session.ledger.public_key)


def test_a_release_has_one_spelling(document, session):
    text = document_text(document)
    for other in (
        json.dumps(document),
        json.dumps(document, indent=2),
        text.rstrip(),
        text + "\n",
        text.replace("\n", "\r\n"),
        text.replace("visits", "\\u0076isits", 1),
        text.replace('"version":2', '"version":2e0', 1),
    ):
        assert json.loads(other) == json.loads(text)
        with pytest.raises(InvalidCertificate):
            verify(other, key=session.ledger.public_key)


@pytest.mark.parametrize("what", ["release", "certificate"])
def test_a_later_version_is_refused_in_words(document, what):
    later = document if what == "release" else document["certificate"]["statement"]
    later |= {"version": 3, "seal": "new"}
    if what == "certificate":
        mutations.sign_again(document)
    with pytest.raises(InvalidCertificate, match=f"This {what} is of version 3.*newer version"):
        verify(document)


def test_a_plan_without_its_contribution_is_refused(session):
    answer = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    (block,) = answer.plan.blocks
    plan = replace(answer.plan, blocks=(replace(block, reach=None),))
    written = answer.certificate.to_dict()
    written["plan"] = canonical.to_json(plan)
    written["statement"]["mechanisms"][0]["one_row"] = None
    mutations.sign_again({"certificate": written})
    with pytest.raises(InvalidCertificate, match="does not state what one row adds"):
        verify(written)


def test_the_signer_is_signed_too(document):
    """Nobody can put their own key and signature under a statement that names another."""
    certificate = document["certificate"]
    owner = certificate["statement"]["key"]
    mutations.sign_again(document)
    assert verify(certificate)
    certificate["statement"]["key"] = owner
    value = mutations.STRANGER.sign(signed_message(certificate["statement"]))
    certificate["signature"]["value"] = value
    with pytest.raises(InvalidCertificate, match="another key"):
        verify(document)


def test_a_statement_is_about_the_plan_beside_it(document):
    """Well signed, and every number fits; but the hash is that of another plan."""
    certificate = document["certificate"]
    mutations.sign_again(document)
    certificate["statement"]["plan_hash"] = canonical.digest_json([])
    value = mutations.STRANGER.sign(signed_message(certificate["statement"]))
    certificate["signature"]["value"] = value
    with pytest.raises(InvalidCertificate, match="plan_hash"):
        verify(document)


def test_a_field_that_is_missing_is_named(document):
    del document["certificate"]["statement"]["engine"]
    mutations.sign_again(document)
    with pytest.raises(InvalidCertificate, match="Missing in the statement: engine"):
        verify(document)


@pytest.mark.parametrize("where", ["certificate", "signature"])
def test_nothing_is_added_to_a_certificate_alone(document, where):
    certificate = document["certificate"]
    (certificate if where == "certificate" else certificate["signature"])["seal"] = "royal"
    with pytest.raises(InvalidCertificate, match="only"):
        verify(certificate)


def test_a_signature_has_one_spelling(document, session):
    """Adding the order of the group to the second half fits the same message in some code."""
    signature = document["certificate"]["signature"]["value"]
    order = 2**252 + 27742317777372353535851937790883648493
    half = int.from_bytes(bytes.fromhex(signature[64:]), "little") + order
    other = signature[:64] + half.to_bytes(32, "little").hex()
    message = signed_message(document["certificate"]["statement"])
    assert signature_is_valid(message, signature, session.ledger.public_key)
    assert not signature_is_valid(message, other, session.ledger.public_key)


def test_every_mutation_is_refused(documents, session, size):
    count = size(small=150, full=1000, what="mutations of releases and certificates")
    rng = random.Random(SEED)
    for _ in range(count):
        document = rng.choice(documents)
        changed = mutations.mutation(rng.choice([document, document["certificate"]]), rng)
        with pytest.raises(InvalidCertificate):
            verify(changed, key=session.ledger.public_key)


def test_whatever_a_stranger_signs_is_verified_or_refused(documents, size):
    """Signed with a key of their own, a file gets as far as the arithmetic."""
    count = size(small=100, full=2000, what="certificates with changes, signed again")
    rng = random.Random(SEED)
    refused = 0
    for _ in range(count):
        try:
            verify(mutations.resigned(rng.choice(documents), rng))
        except InvalidCertificate:
            refused += 1
    assert refused > count / 2


MEASURED = """
import pickle, resource, sys, time
import deniable as dp
texts, true, key = pickle.load(sys.stdin.buffer)
dp.verify(true, key=key)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
slowest = 0
for text in texts:
    began = time.process_time()
    try:
        dp.verify(text, key=key)
    except dp.InvalidCertificate:
        slowest = max(slowest, time.process_time() - began)
        continue
    raise SystemExit("verified: " + ascii(text[:200]))
print(slowest, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_each_is_refused_in_a_second_and_200_megabytes(documents, session, size):
    """By the processor's clock and the peak of memory, in a process of its own.

    A small run measures the memory only: its time would be that of the machine.
    """
    count = size(small=10, full=1000, what="mutations, measured")
    rng = random.Random(SEED + 1)
    texts = [mutations.mutation(rng.choice(documents), rng) for _ in range(count)]
    given = pickle.dumps((texts, document_text(documents[0]), session.ledger.public_key))
    done = subprocess.run(
        [sys.executable, "-c", MEASURED], input=given, capture_output=True, check=True
    )
    seconds, kilobytes = map(float, done.stdout.split())
    assert kilobytes < 200_000
    assert count < 1000 or seconds < 1


LONG = {"class": "range", "first": 0, "count": 10**8}
BOMBS = {
    "a long range": lambda plan, _: plan["keys"][0].update(values=LONG),
    "many ranges": lambda plan, _: plan.update(keys=[plan["keys"][0] | {"values": LONG}] * 40),
    "an exponent": lambda _, statement: statement["cap"].update(epsilon="1e10000000"),
    "a long number": lambda _, statement: statement["cap"].update(epsilon="9" * 5000),
    "a long epsilon": lambda plan, _: plan.update(epsilon="9" * 401),
    "a position": lambda _, statement: statement["ledger"].update(position="1\n✓ all is well"),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_small_file_does_not_grow_when_it_is_read(document, bomb):
    certificate = document["certificate"]
    bomb(certificate["plan"], certificate["statement"])
    mutations.sign_again(document)
    with pytest.raises(InvalidCertificate):
        verify(document)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "1" * 500])
def test_numbers_beyond_all_numbers_are_refused(document, number):
    text = document_text(document)
    assert text.count('"confidence":0.95') == 1
    with pytest.raises(InvalidCertificate, match="not a file that Deniable wrote"):
        verify(text.replace('"confidence":0.95', f'"confidence":{number}'))


@pytest.mark.parametrize(
    "bad",
    [{1: 2}, {"a": {1, 2}}, {"a": float("nan")}, {"a": object}, None, 5, {"a": "\ud800"}],
    ids=range(7),
)
def test_what_no_json_can_hold_is_refused(bad):
    with pytest.raises(InvalidCertificate):
        verify(bad)


def test_a_dictionary_that_holds_itself_is_refused():
    endless = {}
    endless["certificate"] = endless
    with pytest.raises(InvalidCertificate):
        verify(endless)


def test_a_deep_question_has_a_certificate_that_can_be_read(session):
    """And one that is deeper is refused before the charge, not when it is read."""
    sql = "SELECT COUNT(*) {} AS n FROM visits"
    assert verify(session.sql(sql.format("+ 1" * 90), epsilon=0.25).to_json())
    before = session.remaining
    with pytest.raises(dp.Unsupported, match="nests too deeply"):
        session.sql(sql.format("+ 1" * 120), epsilon=0.25)
    assert session.remaining == before


def test_a_number_that_could_not_be_read_again_is_refused_before_the_charge(session):
    before = session.remaining
    with pytest.raises(dp.Unsupported, match="digits"):
        session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1 + Fraction(1, 10**400 + 1))
    assert session.remaining == before


FORGED = "n.\nWhere this label comes from\n  \x1b[2JThe ministry vouches for it. \u202e<b>"


def test_a_label_does_not_speak_with_a_foreign_voice(document):
    """Its text stands in quotation marks, on one line, and steers no terminal."""
    certificate = document["certificate"]
    plan, statement = certificate["plan"], certificate["statement"]
    sql = plan["engine_sql"].replace('"visits"', f'"{FORGED}"')
    plan |= {"table": FORGED, "notes": [FORGED], "engine_sql": sql}
    statement["kernel"]["tables"][0]["name"] = FORGED
    statement |= {"table": FORGED, "notes": [FORGED], "software": FORGED, "engine": FORGED}
    statement |= {"data_version": FORGED}
    mutations.sign_again(document)
    verified = verify(document_text(certificate))
    label = make_label(verified)
    lines = [line for _, section in label.sections for line in section]
    page = label_page(label, title=label_title(verified))
    for line in (*lines, *page.splitlines()):
        assert line.isprintable()
    assert str(label).count("\nWhere this label comes from\n") == 1
    spoken = [line for line in lines if "The ministry" in line]
    assert len(spoken) == 3  # the table, the note, and where it comes from
    for line in spoken:
        assert "ministry" not in "".join(line.split('"')[::2])
    assert "<b>" not in page


def test_what_is_printed_of_an_answer_steers_no_terminal(session):
    answer = session.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.5)
    table = answer.answer.table
    hostile = pa.array([f"\x1b]0;owned\x07{i}\r\u202e" for i in range(len(table))])
    forged = replace(
        answer,
        plan=replace(answer.plan, notes=("\x1b[8mhidden\nCost: nothing",)),
        answer=replace(answer.answer, table=table.set_column(0, "ward", hostile)),
    )
    assert all(line.isprintable() for line in str(forged).split("\n"))
    assert "\x1b" not in forged._repr_html_()
    assert forged.to_arrow()["ward"].to_pylist() == hostile.to_pylist()  # the data is unchanged
    assert json.loads(forged.to_json())["rows"][0]["ward"] == hostile[0].as_py()


def test_a_release_too_large_to_be_read_again_is_not_written(document, monkeypatch):
    monkeypatch.setattr(certificates, "MOST_BYTES", 100)
    with pytest.raises(dp.InvalidParameter, match="more than 100 bytes"):
        document_text(document)


def test_a_saved_release_is_its_json(session, tmp_path):
    answer = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    answer.save(tmp_path / "release.json")
    assert (tmp_path / "release.json").read_bytes() == answer.to_json().encode()
    assert json.loads(answer.to_json()) == answer.to_dict()
    again = Certificate.from_dict(json.loads(answer.certificate.to_json()))
    assert again.to_dict() == answer.certificate.to_dict()
