"""One function verifies releases and copies, by what the document says that it is."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidCertificate
from deniable.release.certificate.verification import VerifiedCertificate
from deniable.synth.copies.any_certificate import VerifiedCopy


@pytest.fixture(scope="module")
def signed():
    frame = pa.table({"x": [True, False] * 100, "y": [True] * 200})
    with dp.protect(frame, epsilon=5, delta=1e-3) as session:
        copy = session.copy(epsilon=1)
        yield copy, session.sql("SELECT COUNT(*) AS n FROM data", epsilon=1)


def test_both_are_verified(signed):
    copy, answer = signed
    assert isinstance(dp.verify(answer.to_json()), VerifiedCertificate)
    text, key = copy.certificate_text(), copy.certificate.key
    for document in (text, text.encode(), copy.certificate.to_dict()):
        verdict = dp.verify(document, key=key)
        assert isinstance(verdict, VerifiedCopy)
        assert verdict.signer_known
        assert verdict.certificate.statement == copy.certificate.statement
        assert any("scorecard" in check for check in verdict.checks)
    assert not dp.verify(text).signer_known


def test_faults_are_refused(signed):
    copy, _ = signed
    text = copy.certificate_text()
    for wrong in (f"{text} ", text.replace('"mst"', '"aim"'), "[]", "{", b"\xff", 7, None):
        with pytest.raises(InvalidCertificate):
            dp.verify(wrong)
    with pytest.raises(InvalidCertificate, match="another key"):
        dp.verify(text, key="0" * 64)
