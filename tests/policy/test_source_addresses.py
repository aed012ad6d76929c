"""Addresses of tables: what they mean, and that no secret is kept or repeated."""

import pytest

from deniable.errors import InvalidPolicy
from deniable.policy import Table, parse
from deniable.policy.source_addresses import (
    _AROUND,
    SourceAddress,
    is_address,
    public_address,
    read_address,
)

SECRET = "open-sesame"


@pytest.mark.parametrize(
    ("source", "address"),
    [
        ("spark://local#visits", SourceAddress("spark", "spark://local", "visits")),
        (
            "spark://h:15002?parquet=/d",
            SourceAddress("spark", "spark://h:15002?parquet=/d", None),
        ),
        ("postgresql://r@h/db#s.t", SourceAddress("postgresql", "postgresql://r@h/db", "s.t")),
        ("ibis://duckdb/a.duckdb#t", SourceAddress("ibis", "ibis://duckdb/a.duckdb", "t")),
    ],
)
def test_an_address_leads_somewhere(source, address):
    assert is_address(source)
    assert read_address(source) == address


@pytest.mark.parametrize(
    "source",
    [
        f"postgresql://reader:{SECRET}@db.example.org/hospital",
        f"postgresql://reader@db.example.org/hospital?password={SECRET}",
        f"spark://h:15002/;token={SECRET}",
        f"spark://h:15002?token={SECRET}",
        f"ibis://snowflake/reader:{SECRET}@account/db",
        f"ibis://bigquery/project?api_key={SECRET}",
    ],
)
def test_a_secret_in_a_policy_is_refused_and_not_repeated(source):
    text = f'[budget]\nepsilon = 1\n[tables.visits]\nsource = "{source}"\n'
    with pytest.raises(InvalidPolicy, match="line 4") as refused:
        parse(text)
    assert SECRET not in str(refused.value)
    assert "environment" in str(refused.value)


def test_the_environment_may_hold_the_whole_address(monkeypatch):
    monkeypatch.setenv("HOSPITAL", f"postgresql://reader:{SECRET}@db/hospital#public.visits")
    address = read_address("$HOSPITAL")
    assert address.address == f"postgresql://reader:{SECRET}@db/hospital"
    assert SECRET not in repr(address)
    policy = parse('[budget]\nepsilon = 1\n[tables.visits]\nsource = "$HOSPITAL"\n')
    assert SECRET not in repr(policy)


@pytest.mark.parametrize("place", [f"u:{SECRET}@h@h/db", f"u:a#{SECRET}@h/db"])
def test_a_misspelt_address_of_the_environments_is_refused_and_not_repeated(monkeypatch, place):
    monkeypatch.setenv("HOSPITAL", f"postgresql://{place}")
    with pytest.raises(InvalidPolicy, match="not an address in PostgreSQL") as refused:
        read_address("$HOSPITAL")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "source", [f"postgresql:/u:{SECRET}@h/db", f"host=h password={SECRET}", f"a:/{SECRET}"]
)
def test_settings_are_not_taken_for_a_path(source):
    text = f'[budget]\nepsilon = 1\n[tables.visits]\nsource = "{source}"\n'
    if source.startswith("a:/"):  # a drive
        assert parse(text)
        return
    with pytest.raises(InvalidPolicy, match=r"line 4.*This is neither") as refused:
        parse(text)
    assert SECRET not in str(refused.value)


def test_a_table_may_be_chosen_at_an_address_of_the_environments(monkeypatch):
    monkeypatch.setenv("HOSPITAL", "postgresql://reader@db/hospital#public.visits")
    assert read_address("$HOSPITAL#old.visits").table == "old.visits"


@pytest.mark.parametrize(
    "source",
    [f"postgres://reader:{SECRET}@db/hospital", f"https://me:{SECRET}@host/visits.csv"],
)
def test_an_address_of_no_engine_is_refused_and_not_repeated(source):
    text = f'[budget]\nepsilon = 1\n[tables.visits]\nsource = "{source}"\n'
    with pytest.raises(InvalidPolicy, match="line 4") as refused:
        parse(text)
    assert SECRET not in str(refused.value)
    assert "postgresql://" in str(refused.value)


def test_a_name_that_is_not_set_is_said(monkeypatch):
    monkeypatch.delenv("HOSPITAL", raising=False)
    with pytest.raises(InvalidPolicy, match="HOSPITAL, which is not set"):
        read_address("$HOSPITAL")


def test_an_address_is_not_beside_the_policy():
    policy = parse(
        '[budget]\nepsilon = 1\n[tables.visits]\nsource = "spark://local#db.visits"\n'
    )
    assert policy.tables["visits"].source == "spark://local#db.visits"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("postgresql://ann:pw@db/h#t", "postgresql://ann@db/h#t"),
        ("postgresql://ann:p%40pw@db:5432/h", "postgresql://ann@db:5432/h#"),
        ("postgresql://ann@db/h?password=pw&sslmode=on", "postgresql://ann@db/h?&sslmode=on#"),
        ("spark://host:15002/;token=pw;user_id=a#db.t", "spark://host:15002/;;user_id=a#db.t"),
        ("ibis://mysql/ann:pw@host/h#t", "ibis://mysql/ann@host/h#t"),
    ],
)
def test_an_address_is_known_without_its_secrets(monkeypatch, address, public):
    """The name under which answers are kept must not help to guess a password."""
    monkeypatch.setenv("HOSPITAL", address)
    for name in (*_AROUND["postgresql"], *_AROUND["spark"]):
        monkeypatch.delenv(name, raising=False)
    assert public_address("$HOSPITAL") == public
    assert "pw" not in public


def test_what_a_driver_reads_from_the_environment_is_part_of_the_address(monkeypatch):
    seen = set()
    for host in ("north", "south"):
        monkeypatch.setenv("PGHOST", host)
        monkeypatch.setenv("PGPASSWORD", f"secret {host}")
        seen.add(public_address("postgresql:///hospital#visits"))
    assert len(seen) == 2
    assert "secret" not in str(seen)


def test_the_path_of_a_file_is_absolute_and_follows_links(tmp_path, monkeypatch):
    (tmp_path / "real.csv").write_text("x\n1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    monkeypatch.chdir(tmp_path)
    assert public_address("link.csv") == public_address("real.csv")
    assert public_address("real.csv") == str((tmp_path / "real.csv").resolve())
    assert public_address("h.duckdb#visits").endswith("/h.duckdb#visits")


def test_an_address_that_cannot_be_read_is_left_to_the_engine_to_refuse(monkeypatch):
    monkeypatch.delenv("NOWHERE", raising=False)
    assert Table("visits", "$NOWHERE").address == "$NOWHERE"
    assert Table("visits", "a\0b.csv").address == "a\0b.csv"
