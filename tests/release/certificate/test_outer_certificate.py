"""The certificate of SQL over released rows: nothing in it can be changed unnoticed."""

import copy
import json

import pyarrow as pa
import pytest

import deniable as dp
from deniable.release.certificate.outer_certificate import verify_outer


@pytest.fixture(scope="module")
def answer():
    data = dp.protect(pa.table({"x": [1, 2] * 500}), keys={"x": [1, 2]}, epsilon=1)
    inner = "SELECT x, COUNT(*) AS n FROM data GROUP BY x"
    return data.sql(f"SELECT x, n * 2 AS m FROM ({inner})", epsilon=0.5)


def test_a_release_is_verified_with_all_its_parts(answer, tmp_path):
    verified = dp.verify(answer.to_json(), key=answer.certificate.key)
    assert verified.signer_known
    assert len(verified.inner) == 1
    assert "n * 2 AS m" in verified.certificate.statement["outer"]
    answer.save(tmp_path / "answer.json")
    assert (
        dp.verify((tmp_path / "answer.json").read_bytes()).checks
        == dp.verify(answer.to_json()).checks
    )


def change_row(document):
    document["rows"][0]["m"] += 1


def change_margin(document):
    document["rows"][0]["m_margin"] -= 1


def change_outer(document):
    document["statement"]["outer"] += " "


def change_notes(document):
    document["statement"]["notes"].append("trust me")


def change_inner_row(document):
    part = next(iter(document["inner"].values()))
    part["rows"][0]["n"] += 1


def drop_inner(document):
    document["inner"].clear()
    document["statement"]["inner"].clear()


def add_field(document):
    document["extra"] = 1


def change_key(document):
    document["statement"]["key"] = "0" * 64


def change_column(document):
    document["columns"][1]["name"] = "people"


def remove_certificate(document):
    document["statement"] = document["signature"] = None


CHANGES = [
    *(change_row, change_margin, change_outer, change_notes, change_inner_row, drop_inner),
    *(add_field, change_key, change_column, remove_certificate),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_noticed(answer, change):
    document = copy.deepcopy(answer.to_dict())
    change(document)
    with pytest.raises(dp.InvalidCertificate):
        verify_outer(document)
    with pytest.raises(dp.InvalidCertificate):
        dp.verify(document)


def test_parts_of_another_answer_are_noticed():
    data = dp.protect(pa.table({"x": [1, 2] * 500}), keys={"x": [1, 2]}, epsilon=2)
    text = "SELECT x, n * 2 AS m FROM (SELECT x, COUNT(*) AS n FROM data GROUP BY x)"
    document, other = (data.sql(text, epsilon=0.5, fresh=True).to_dict() for _ in range(2))
    with pytest.raises(dp.InvalidCertificate, match="other private parts"):
        verify_outer({**document, "inner": other["inner"]})


def test_another_key_is_refused(answer):
    with pytest.raises(dp.InvalidCertificate, match="another key"):
        dp.verify(answer.to_json(), key="0" * 64)


def test_a_file_that_was_written_in_another_way_is_refused(answer):
    with pytest.raises(dp.InvalidCertificate):
        dp.verify(json.dumps(answer.to_dict(), indent=1))


def test_the_margins_are_signed(answer):
    assert answer.outer_certificate.statement["margins"] == {"m": "m_margin"}
