from pathlib import Path

import pytest

from deniable.errors import InvalidPolicy
from deniable.policy.ledger_settings import locate_ledger

BESIDE = Path("folder/hospital.toml")


def test_beside_the_policy_unless_told_otherwise():
    assert locate_ledger(None, None, BESIDE)["ledger"] == "folder/hospital.ledger.sqlite"
    assert locate_ledger("own.db", None, BESIDE) == {
        "ledger": "folder/own.db",
        "ledger_key": "folder/own.key",
    }
    assert locate_ledger("own.db", "keys/k", BESIDE)["ledger_key"] == "folder/keys/k"
    assert locate_ledger("memory", None, BESIDE)["ledger"] is None
    assert locate_ledger(None, None, None)["ledger"] is None


def test_a_servers_key_is_beside_the_policy():
    assert locate_ledger("postgresql://db/ledger", None, BESIDE) == {
        "ledger": "postgresql://db/ledger",
        "ledger_key": "folder/hospital.ledger.key",
    }


def test_secrets_come_from_the_environment_only(monkeypatch):
    with pytest.raises(InvalidPolicy, match="holds a password") as caught:
        locate_ledger("postgresql://me:secret@db/ledger", None, BESIDE)
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("LEDGER", "postgresql://me:secret@db/ledger")
    assert (
        locate_ledger("$LEDGER", None, BESIDE)["ledger"] == "postgresql://me:secret@db/ledger"
    )
    monkeypatch.setenv("LEDGER", "other.sqlite")
    assert locate_ledger("$LEDGER", None, BESIDE)["ledger"] == "folder/other.sqlite"
    monkeypatch.delenv("LEDGER")
    with pytest.raises(InvalidPolicy, match="LEDGER, which is not set"):
        locate_ledger("$LEDGER", None, BESIDE)


def test_an_address_is_one_of_postgresql(monkeypatch):
    monkeypatch.setenv("LEDGER", "mysql://x")
    for store in ("mysql://x", "$LEDGER"):
        with pytest.raises(InvalidPolicy, match="Found mysql://") as found:
            locate_ledger(store, None, BESIDE)
        assert found.value.where == ("ledger", "store")
    assert locate_ledger("postgresql+psycopg://db/x", None, BESIDE)["ledger"].endswith("db/x")
