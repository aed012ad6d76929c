"""The certificate of a copy: it checks as it is, and refuses every change."""

import json
from copy import deepcopy

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidCertificate
from deniable.release.certificate.verification import verify
from deniable.synth.copies.copy_certificate import _check_run, certify_copy, verify_copy

FRAME = pa.table({"a": [True, False] * 200, "b": [True, True, False, None] * 100})


@pytest.fixture(scope="module")
def copied():
    words = FRAME.append_column("w", pa.array(["often"] * 399 + ["once"]))
    with dp.protect(words, name="t", epsilon=9, delta=1e-4) as session:
        yield session.copy(epsilon=2, keys_epsilon=2, method="mst"), session.ledger.public_key


def test_it_checks(copied):
    copy, key = copied
    checks = verify_copy(copy.certificate.to_dict(), rows=copy.to_arrow(), key=key)
    assert len(checks) == 5
    assert copy.certificate.statement["keys"]["epsilon"] == "2"
    assert "epsilon 2" in repr(copy.certificate)


def test_the_label_covers_keys_and_run(copied):
    text = str(copied[0].label)
    assert "(epsilon 4, delta 2e-06)" in text
    assert "they are not people" in text
    assert "All these intervals hold together at 95 %" in text


def change(document, path, value):
    changed = deepcopy(document)
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("statement", "loss", "epsilon"), "1"),
        (("statement", "rho"), "1/1000"),
        (("statement", "rows_hash"), "0" * 64),
        (("statement", "total"), 7.0),
        (("signature",), "00" * 64),
        (("version",), 2),
        (("releases",), []),
        (("releases", 0, "rows"), []),
    ],
)
def test_changes_are_refused(copied, path, value):
    document = json.loads(json.dumps(copied[0].certificate.to_dict()))
    assert verify_copy(document)
    with pytest.raises(InvalidCertificate):
        verify_copy(change(document, path, value))


def test_a_step_that_is_left_out_is_refused(copied):
    document = copied[0].certificate.to_dict()
    document["releases"] = document["releases"][:-1]
    with pytest.raises(InvalidCertificate, match="other steps"):
        verify_copy(document)


def test_other_rows_and_keys_are_refused(copied):
    copy, _ = copied
    with pytest.raises(InvalidCertificate, match="other rows"):
        verify_copy(copy.certificate.to_dict(), rows=copy.to_arrow().slice(1))
    with pytest.raises(InvalidCertificate, match="another key"):
        verify_copy(copy.certificate.to_dict(), key="0" * 64)
    with pytest.raises(InvalidCertificate):
        verify_copy({"format": "deniable copy"})


def test_a_rehearsal_has_none(tmp_path):
    with (
        dp.protect(FRAME, epsilon=1, delta=1e-6) as session,
        dp.rehearse(session.policy) as made_up,
    ):
        copy = made_up.copy(epsilon=1)
        assert copy.certificate is copy.label is None
        with pytest.raises(dp.errors.InvalidParameter, match="no certificate"):
            copy.save(tmp_path / "copy.json")


def test_steps_beyond_the_stated_rho_are_refused(copied):
    """Signed again, so that only the sum of the steps is wrong."""
    copy, _ = copied
    with dp.protect(FRAME, name="t", epsilon=9, delta=1e-4) as other:
        facts = copy.plan.facts(copy.total) | {"rho": str(copy.plan.rho / 2)}
        ledger = other.ledger
        small = certify_copy(facts, copy.rows, copy.scorecard, copy.releases, ledger).to_dict()
        own = small["releases"][0]["certificate"]["signature"]["key"]
        assert own != ledger.public_key
        with pytest.raises(InvalidCertificate, match="more than it states"):
            _check_run(small["statement"], [verify(release) for release in small["releases"]])
