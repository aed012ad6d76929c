from pathlib import Path

import pytest

from deniable.errors import InvalidPolicy
from deniable.policy.file import parse
from deniable.policy.ledger_settings import locate_ledger, read_store, shown_store

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
        with pytest.raises(InvalidPolicy, match="begins with postgresql://") as error:
            locate_ledger(store, None, BESIDE)
        assert error.value.where == ("ledger", "store")
    assert locate_ledger("postgresql+psycopg://db/x", None, BESIDE)["ledger"].endswith("db/x")


S = "s3cr3tPW"
NOWHERE = [  # what no part of may be shown, as a text of the policy or of the environment
    f"postgresql://u:x@{S}@127.0.0.1:1/db",
    f"postgresql://u:{S}/x@127.0.0.1:1/db",
    f"postgresql://u:p@127.0.0.1:{S}/db",
    f"postgresql://u:a#{S}@127.0.0.1:1/db",
    f"postgresql://u:a?{S}@127.0.0.1:1/db",
    f"postgresql://127.0.0.1:1/db?passwrd={S}",
    f"postgresql://127.0.0.1:1/db?port={S}",
    f"postgresql://127.0.0.1:1/db?port=70000&x={S}",
    f"postgresql://127.0.0.1:1/db?user=a&user={S}",
    f"postgresql://h/db;password={S}",
    f"postgresql://h/db#s?password={S}",
    f"postgresql://u:{S}@[::1/db",
    f"postgresql://u:{S}@127.0.0.1:1/db#A-B",
    f"postgresql+{S}://h/db",
    f"postgresql:/u:{S}@h/db",
    f"POSTGRESQL://u:{S}@h/db",
    f"postgresql:u:{S}@h",
    f"jdbc:postgresql://u:{S}@h/db",
    f"mysql://u:{S}@h/db",
    f"{S}://h",
    f"host=h password={S}",
    f"dbname = x\npassword = {S}",
    f"password={S}/cd",
    f"u:{S}@h",
]


@pytest.mark.parametrize("store", NOWHERE)
@pytest.mark.parametrize("in_environment", [False, True])
def test_what_is_no_store_is_refused_and_not_shown(store, in_environment, monkeypatch):
    monkeypatch.setenv("LEDGER", store)
    with pytest.raises(InvalidPolicy) as refused:
        locate_ledger("$LEDGER" if in_environment else store, None, BESIDE)
    assert S not in str(refused.value) + repr(refused.value)
    assert refused.value.where == ("ledger", "store")


@pytest.mark.parametrize(
    "store",
    [
        f"postgresql://u:{S}@h/db",
        f"postgresql://u%3A{S}@h/db",
        f"postgresql://h/db?user=u&password={S}",
        f"postgresql://h/db?sslpassword={S}",
        f"postgresql://h/db?options=-cmy.password%3D{S}",
    ],
)
def test_a_password_is_allowed_in_the_environment_only_and_never_shown(store, monkeypatch):
    with pytest.raises(InvalidPolicy, match="holds a password") as refused:
        locate_ledger(store, None, BESIDE)
    monkeypatch.setenv("LEDGER", store)
    text = '[budget]\nepsilon = 1\n[tables.v]\nsource = "v.csv"\n[ledger]\nstore = "$LEDGER"\n'
    policy = parse(text, policy_file=BESIDE)
    assert policy.ledger == store
    shown = (str(refused.value), repr(policy), shown_store(store), repr(read_store(store)))
    assert S not in str(shown)
    assert S not in str(policy.ledger_key)


@pytest.mark.parametrize("name", ["own.db", "a b/l.sqlite", "/x=1/m@n/l.sqlite", "C:/l.sqlite"])
def test_paths_stay_paths(name):
    assert read_store(name) == Path(name)
    assert shown_store(name) == name
    assert read_store(Path("host=h password=x")) == Path("host=h password=x")
