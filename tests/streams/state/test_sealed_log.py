"""Sealed records: they last, cannot be read or changed, and a torn one is forgotten."""

import os
import stat
from contextlib import suppress

import pytest

from deniable.errors import InvalidParameter, LedgerBroken, LedgerUnavailable
from deniable.streams.state.sealed_log import MemoryLog, SealedLog

KEY = bytes(range(32))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "visits.state"


def written(file, count=3):
    log = SealedLog(file, KEY)
    for place in range(count):
        log.append(f"secret record {place}".encode())
    return log


def test_records_last_and_are_secret(file):
    log = written(file)
    again = SealedLog(file, KEY)
    assert list(again.records) == [f"secret record {i}".encode() for i in range(3)]
    assert again.digests == log.digests
    assert b"secret" not in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_equal_records_are_sealed_differently(tmp_path):
    written(tmp_path / "a"), written(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() != (tmp_path / "b").read_bytes()


def test_every_cut_leaves_the_whole_records(file):
    written(file)
    content = file.read_bytes()
    counts = []
    for cut in range(len(content)):
        file.write_bytes(content[:cut])
        log = SealedLog(file, KEY)
        counts.append(len(log.digests))
        log.append(b"next")
        assert SealedLog(file, KEY).records[-1] == b"next"
    assert sorted(counts) == counts
    assert counts[0] == 0
    assert counts[-1] == 2


def test_every_changed_byte_of_a_record_is_noticed(file):
    written(file, 2)
    content = bytearray(file.read_bytes())
    head = content.index(b"\n") + 1
    for place in range(head + 8, len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        file.write_bytes(changed)
        with suppress(LedgerBroken):
            assert len(SealedLog(file, KEY).digests) < 2  # a length: the rest is not there


def test_records_in_another_order_or_left_out_are_noticed(file):
    sizes = []
    log = SealedLog(file, KEY)
    for place in range(3):
        log.append(bytes([place]))
        sizes.append(file.stat().st_size)
    content = file.read_bytes()
    head = content.index(b"\n") + 1
    first, second = content[head : sizes[0]], content[sizes[0] : sizes[1]]
    for other in (second + first, second, first + first):
        file.write_bytes(content[:head] + other)
        with pytest.raises(LedgerBroken, match="was changed"):
            SealedLog(file, KEY)


def test_another_key_or_version_is_refused(file):
    written(file)
    with pytest.raises(LedgerBroken):
        SealedLog(file, bytes(32))
    file.write_bytes(b"something else")
    with pytest.raises(LedgerBroken, match="not the state"):
        SealedLog(file, KEY)


def test_others_may_not_read_it(file):
    written(file)
    file.chmod(0o644)
    with pytest.raises(InvalidParameter, match="chmod 600"):
        SealedLog(file, KEY)


def test_another_process_is_noticed(file):
    log, other = SealedLog(file, KEY), SealedLog(file, KEY)
    with log.locked() as changed:
        assert not changed
        log.append(b"one")
    with other.locked() as changed:
        assert changed
        assert other.digests == log.digests
    with other.locked() as changed:
        assert not changed


def test_a_folder_that_cannot_be_written(file, monkeypatch):
    log = SealedLog(file, KEY)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(LedgerUnavailable, match="No answer was given"):
        log.append(b"one")


def test_names_of_records_in_memory_tell_nothing_about_them():
    """The ledger shows them. What follows from a record would be found by trying all."""
    log, other = MemoryLog(), MemoryLog()
    for _ in range(3):
        assert log.append(b"a") != other.append(b"a")
        other.digests[:] = log.digests  # as equal as can be
    assert len({*log.digests}) == 3


def test_memory():
    log = MemoryLog()
    with log.locked() as changed:
        assert not changed
    assert [log.append(b"a"), log.append(b"a")] == log.digests
    assert len(set(log.digests)) == 2
    log.reload()
    log.remove()
    assert (log.records, log.digests) == ([], [])
