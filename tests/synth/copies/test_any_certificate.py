"""One function verifies releases and copies, by what the document says that it is."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidCertificate
from deniable.release.certificate.verification import VerifiedCertificate
from deniable.synth.copies.any_certificate import VerifiedCopy


@pytest.fixture(scope="module")
def made():
    frame = pa.table({"x": [True, False] * 100, "y": [True] * 200})
    with dp.protect(frame, epsilon=5, delta=1e-3) as one:
        copy = one.copy(epsilon=1)
        yield copy, one.sql("SELECT COUNT(*) AS n FROM data", epsilon=1)


def test_both_are_verified(made):
    copy, answer = made
    assert isinstance(dp.verify(answer.to_json()), VerifiedCertificate)
    text, key = copy.certificate_text(), copy.certificate.key
    for document in (text, text.encode(), copy.certificate.to_dict()):
        found = dp.verify(document, key=key)
        assert isinstance(found, VerifiedCopy)
        assert found.signer_known
        assert found.certificate.statement == copy.certificate.statement
        assert any("scorecard" in check for check in found.checks)
    assert not dp.verify(text).signer_known


def test_faults_are_refused(made):
    copy, _ = made
    text = copy.certificate_text()
    for wrong in (f"{text} ", text.replace('"mst"', '"aim"'), "[]", "{", b"\xff", 7, None):
        with pytest.raises(InvalidCertificate):
            dp.verify(wrong)
    with pytest.raises(InvalidCertificate, match="another key"):
        dp.verify(text, key="0" * 64)
