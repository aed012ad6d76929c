import pytest

import deniable as dp
from deniable.surveys.collect import private_files
from deniable.surveys.collect.private_files import read_private, replace, write_once


def test_the_first_of_several_wins(tmp_path):
    file = tmp_path / "f"
    write_once(file, b"first")
    write_once(file, b"second")
    assert read_private(file) == b"first"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def test_a_file_is_replaced_whole(tmp_path):
    file = tmp_path / "f"
    replace(file, b"first")
    replace(file, b"second")
    assert read_private(file) == b"second"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("write", [write_once, replace])
def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch, write):
    def fail(handle):
        raise OSError("full")

    monkeypatch.setattr(private_files.os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        write(tmp_path / "f", b"x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_what_others_can_read_is_refused(tmp_path, mode):
    file = tmp_path / "f"
    write_once(file, b"x")
    file.chmod(mode)
    with pytest.raises(dp.InvalidParameter, match="chmod 600"):
        read_private(file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(dp.CollectionUnavailable, match="gone"):
        read_private(tmp_path / "gone")
