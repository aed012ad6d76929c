import pytest
from pyarrow import parquet

import deniable as dp
from deniable.app.publish.parquet_folder import write_folder


def test_parquet_files_are_read_back(tables, tmp_path):
    folder = tmp_path / "released"
    for _ in range(2):  # the second time replaces the first
        write_folder(folder, tables)
    assert {file.name for file in folder.iterdir()} == {
        *("by_ward.parquet", "middle.parquet", "certificates")
    }
    for table in tables:
        assert parquet.read_table(folder / f"{table.name}.parquet") == table.rows
        certificate = folder / "certificates" / f"{table.certificate_id}.json"
        assert dp.verify(certificate.read_bytes()).checks


def test_a_place_that_cannot_be_written_is_said(tables, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(dp.InvalidParameter, match="cannot be written"):
        write_folder(tmp_path / "file", tables)
