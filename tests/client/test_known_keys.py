import json

import pytest

import deniable as dp
from deniable.client.known_keys import known_keys_file, pin_key

URL = "https://data.example.org/hospital"
KEY, OTHER = "a" * 64, "b" * 64


def test_a_given_key_must_be_the_servers(tmp_path):
    assert pin_key(URL, KEY, KEY.upper() + "\n", file=tmp_path / "k.json") == KEY
    with pytest.raises(dp.InvalidCertificate, match="another key than the key that you gave"):
        pin_key(URL, KEY, OTHER, file=tmp_path / "k.json")
    with pytest.raises(dp.InvalidParameter, match="64 digits"):
        pin_key(URL, KEY, "a" * 63)
    assert not (tmp_path / "k.json").exists()


def test_the_key_of_first_use_is_recorded_and_said(tmp_path):
    file = tmp_path / "settings" / "k.json"
    with pytest.warns(dp.KeyWarning, match="for the first time") as said:
        assert pin_key(URL, KEY, None, file=file) == KEY
    assert KEY[:16] in str(said[0].message)
    assert pin_key(URL, KEY, None, file=file) == KEY  # and no warning, which would be an error
    assert json.loads(file.read_text()) == {URL: KEY}
    with pytest.raises(dp.InvalidCertificate, match="may have taken its place"):
        pin_key(URL, OTHER, None, file=file)
    with pytest.warns(dp.KeyWarning):
        pin_key(URL + "2", OTHER, None, file=file)


def test_a_spoilt_record_is_no_first_use(tmp_path):
    (tmp_path / "k.json").write_text("{")
    with pytest.raises(dp.InvalidParameter, match="cannot be read"):
        pin_key(URL, KEY, None, file=tmp_path / "k.json")


def test_it_lies_in_the_users_settings(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert known_keys_file() == tmp_path / "deniable" / "known_keys.json"
