import json

import pyarrow as pa
import pytest

import deniable as dp
from deniable.app.publish.released_tables import check_names, make_released, read_released
from deniable.release.answer.answer_table import Answer


def test_a_table_has_intervals_and_its_certificate(owner, tables):
    wards, middle = tables
    assert (wards.name, middle.name) == ("by_ward", "middle")
    assert wards.rows.column_names == [
        *("ward", "n", "n_low", "n_high"),
        *("total", "total_low", "total_high", "certificate_id"),
    ]
    assert middle.rows.column_names == [
        *("middle", "middle_low", "middle_high", "certificate_id")
    ]
    rows = json.loads((owner / "by ward.json").read_text())["rows"]
    for row, before in zip(wards.rows.to_pylist(), rows, strict=True):
        assert row["n_low"] == before["n"] - before["n_margin"]
        assert row["n_high"] == before["n"] + before["n_margin"]
        assert row["certificate_id"] == wards.certificate_id
    assert wards.certificate_id != middle.certificate_id
    assert dp.verify(wards.certificate).checks


def test_only_what_the_owner_signed_is_published(owner):
    with pytest.raises(dp.InvalidCertificate, match="another key"):
        read_released(owner / "by ward.json", key="ab" * 32)
    text = (owner / "by ward.json").read_text()
    key = (owner / "owner.pub").read_text()
    changed = json.loads(text)
    changed["rows"][0]["n"] += 1
    (owner / "changed.json").write_text(
        json.dumps(changed, sort_keys=True, separators=(",", ":")) + "\n"
    )
    with pytest.raises(dp.InvalidCertificate):
        read_released(owner / "changed.json", key=key)


def test_files_that_cannot_be_published_are_said(owner, tables):
    key = (owner / "owner.pub").read_text()
    (owner / "only.json").write_text(tables[0].certificate)
    with pytest.raises(dp.InvalidCertificate, match="without its rows"):
        read_released(owner / "only.json", key=key)
    for name in ("certificates.json", "!.json", "7.json"):
        with pytest.raises(dp.InvalidParameter, match="cannot be the name of a table"):
            read_released(owner / name, key=key)
    with pytest.raises(dp.InvalidParameter, match="cannot be read"):
        read_released(owner / "missing.json", key=key)
    with pytest.raises(dp.InvalidParameter, match="Two files"):
        check_names([tables[0], tables[0]])
    taken = Answer(pa.table({"certificate_id": ["x"]}), {})
    with pytest.raises(dp.InvalidParameter, match="is called certificate_id"):
        make_released("t", taken, {}, "{}")
