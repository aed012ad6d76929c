import fcntl
import os

import pytest

import deniable as dp
from deniable.surveys.collect.store import sealing_keys
from deniable.surveys.collect.store.sealing_keys import SealingKey, SealingKeyFile


@pytest.fixture
def keys(tmp_path):
    file = SealingKeyFile(tmp_path / "keys" / "sealing.key")
    file.make_folder()
    return file


def test_sealing_hides_and_keeps_the_length():
    key = SealingKey.new()
    first, second = key.seal(b"report"), key.seal(b"report")
    assert first != second
    assert b"report" not in first
    assert len(first) == len(second) == len(key.seal(b"others"))
    assert key.open(first) == b"report"


def test_another_key_or_a_changed_report_is_refused():
    key = SealingKey.new()
    sealed = key.seal(b"report")
    for changed in (sealed[:-1] + bytes([sealed[-1] ^ 1]), sealed[:5], b""):
        with pytest.raises(dp.CollectionUnavailable, match="cannot be opened"):
            key.open(changed)
    with pytest.raises(dp.CollectionUnavailable):
        SealingKey.new().open(sealed)
    assert "report" not in repr(key)
    assert key._secret.hex() not in repr(key)


def test_the_folder_is_private_and_left_out_of_backups(keys):
    assert keys.file.parent.stat().st_mode & 0o777 == 0o700
    tag = (keys.file.parent / "CACHEDIR.TAG").read_bytes()
    assert tag.startswith(b"Signature: 8a477f597d28d172789f06886806bc55")


def test_keys_change_places(keys):
    old, new = SealingKey.new(), SealingKey.new()
    keys.write(old)
    assert keys.file.stat().st_mode & 0o777 == 0o600
    assert keys.find(old.name) == old
    keys.write(old, new)
    assert keys.find(new.name) == new
    keys.keep_only(new.name)
    assert keys.read() == {new.name: new}
    keys.keep_only("")
    assert not keys.file.exists()
    with pytest.raises(dp.CollectionUnavailable, match="without-waiting"):
        keys.find(old.name)


def test_a_key_that_the_database_does_not_name_is_not_removed_alone(keys):
    """The file of another survey: nothing of it may be lost by looking."""
    key = SealingKey.new()
    keys.write(key)
    keys.keep_only("unknown")
    assert keys.read() == {key.name: key}


@pytest.mark.parametrize("act", ["write", "remove"])
def test_the_old_bytes_are_overwritten(keys, act):
    old = SealingKey.new()
    keys.write(old)
    with keys.file.open("rb") as opened:  # as a forensic look at the disk would find them
        keys.write(SealingKey.new()) if act == "write" else keys.remove()
        left = opened.read()
    assert left
    assert not any(left)


def test_a_write_that_fails_keeps_the_old_key(keys, monkeypatch):
    old = SealingKey.new()
    keys.write(old)

    def fail(*_):
        raise OSError("full")

    monkeypatch.setattr(sealing_keys, "replace", fail)
    with pytest.raises(OSError, match="full"):
        keys.write(old, SealingKey.new())
    assert keys.read() == {old.name: old}


def test_a_reader_that_meets_the_overwriting_looks_again(keys, monkeypatch):
    key = SealingKey.new()
    keys.write(key)
    answers = [bytes(80), bytes(80), keys.file.read_bytes()]
    monkeypatch.setattr(sealing_keys, "read_private", lambda file: answers.pop(0))
    assert keys.read() == {key.name: key}


def test_a_damaged_file_is_an_error(keys):
    keys.file.write_bytes(b"nonsense")
    keys.file.chmod(0o600)
    with pytest.raises(dp.CollectionUnavailable, match="cannot be read"):
        keys.read()


def test_only_one_at_a_time_changes_keys(keys):
    handle = os.open(keys.file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    with keys.changing(), pytest.raises(BlockingIOError):  # as another process would
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(handle)
