import pickle

import pytest

import deniable as dp
from deniable.surveys.collect.passes.pass_keys import SecretPassKey


def test_the_file_is_private_and_read_back(tmp_path):
    file = tmp_path / "pass.key"
    key = SecretPassKey.read_or_create(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert SecretPassKey.read_or_create(file).public == key.public


def test_a_file_that_others_can_read_is_refused(tmp_path):
    file = tmp_path / "pass.key"
    SecretPassKey.read_or_create(file)
    file.chmod(0o640)
    with pytest.raises(dp.InvalidParameter, match="chmod 600"):
        SecretPassKey.read_or_create(file)


@pytest.mark.parametrize("text", ["", "deniable pass key, version 2\n{}", "{}", "\xff"])
def test_a_file_of_another_kind_is_refused(tmp_path, text):
    file = tmp_path / "pass.key"
    file.write_text(text, encoding="latin-1")
    file.chmod(0o600)
    with pytest.raises(dp.InvalidData, match="not a pass key"):
        SecretPassKey.read_or_create(file)


def test_it_shows_and_pickles_nothing():
    secret = SecretPassKey.new()
    assert repr(secret) == "<secret pass key>"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
