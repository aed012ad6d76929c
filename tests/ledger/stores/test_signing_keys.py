import pickle
import stat

import pytest

from deniable.errors import InvalidParameter, LedgerBroken
from deniable.ledger.stores.signing_keys import PublicKey, SigningKey, signature_is_valid


def test_a_file_keeps_the_key_whole_and_closed(tmp_path):
    path = tmp_path / "l.key"
    key = SigningKey.read_or_create(path)
    assert SigningKey.read_or_create(path).public == SigningKey.read(path).public == key.public
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (tmp_path / "l.key.pub").read_text() == f"{key.public}\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["l.key", "l.key.pub"]


def test_who_comes_second_takes_the_first_ones_key(tmp_path):
    path = tmp_path / "l.key"
    first, second = SigningKey.new(), SigningKey.new()
    first._write(path)
    second._write(path)
    assert SigningKey.read(path).public == first.public != second.public


@pytest.mark.parametrize("text", ["", "x\n", "deniable signing key, version 1\nzz\n", "é"])
def test_what_is_no_key(text, tmp_path):
    path = tmp_path / "l.key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(LedgerBroken):
        SigningKey.read(path)


def test_what_is_short_or_of_another_version(tmp_path):
    path = tmp_path / "l.key"
    for head, seed in [
        ("deniable signing key, version 1", "00" * 31),
        ("deniable signing key, version 2", "00" * 32),
    ]:
        path.write_text(f"{head}\n{seed}\n")
        path.chmod(0o600)
        with pytest.raises(LedgerBroken, match="not a signing key"):
            SigningKey.read(path)


def test_others_must_not_read_it(tmp_path):
    path = tmp_path / "l.key"
    SigningKey.read_or_create(path)
    path.chmod(0o640)
    with pytest.raises(InvalidParameter, match="chmod 600"):
        SigningKey.read(path)


def test_the_private_half_is_never_shown_or_pickled():
    key = SigningKey.new()
    seed = key._private.private_bytes_raw().hex()
    assert seed not in repr(key) + str(key)
    assert key.public in repr(key)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(key)


def test_a_signature_has_one_spelling():
    key = SigningKey.new()
    signature = key.sign(b"head")
    assert signature_is_valid(b"head", signature, key.public)
    for other in (signature.upper(), f" {signature}", signature[:-1], "zz", ""):
        assert not signature_is_valid(b"head", other, key.public)
    assert not signature_is_valid(b"head", signature, key.public.upper())
    assert not signature_is_valid(b"head", signature, SigningKey.new().public)


def test_a_public_key_signs_nothing():
    with pytest.raises(LedgerBroken, match="for reading only"):
        PublicKey("00").sign(b"head")
