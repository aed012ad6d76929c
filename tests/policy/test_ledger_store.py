from pathlib import Path

import pytest

from deniable.errors import InvalidPolicy
from deniable.policy.ledger_store import stored

BESIDE = Path("folder/hospital.toml")


def test_beside_the_policy_unless_told_otherwise():
    assert stored(None, None, BESIDE)["ledger"] == "folder/hospital.ledger.sqlite"
    assert stored("own.db", None, BESIDE) == {
        "ledger": "folder/own.db",
        "ledger_key": "folder/own.key",
    }
    assert stored("own.db", "keys/k", BESIDE)["ledger_key"] == "folder/keys/k"
    assert stored("memory", None, BESIDE)["ledger"] is None
    assert stored(None, None, None)["ledger"] is None


def test_a_servers_key_is_beside_the_policy():
    assert stored("postgresql://db/ledger", None, BESIDE) == {
        "ledger": "postgresql://db/ledger",
        "ledger_key": "folder/hospital.ledger.key",
    }


def test_secrets_come_from_the_environment_only(monkeypatch):
    with pytest.raises(InvalidPolicy, match="no password") as caught:
        stored("postgresql://me:secret@db/ledger", None, BESIDE)
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("LEDGER", "postgresql://me:secret@db/ledger")
    assert stored("$LEDGER", None, BESIDE)["ledger"] == "postgresql://me:secret@db/ledger"
    monkeypatch.setenv("LEDGER", "other.sqlite")
    assert stored("$LEDGER", None, BESIDE)["ledger"] == "folder/other.sqlite"
    monkeypatch.delenv("LEDGER")
    with pytest.raises(InvalidPolicy, match="LEDGER is not set"):
        stored("$LEDGER", None, BESIDE)


def test_an_address_is_one_of_postgresql(monkeypatch):
    monkeypatch.setenv("LEDGER", "mysql://x")
    for store in ("mysql://x", "$LEDGER"):
        with pytest.raises(InvalidPolicy, match="not mysql://") as found:
            stored(store, None, BESIDE)
        assert found.value.where == ("ledger", "store")
    assert stored("postgresql+psycopg://db/x", None, BESIDE)["ledger"].endswith("db/x")
