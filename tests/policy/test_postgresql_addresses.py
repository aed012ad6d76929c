"""One form of address: its parts are PostgreSQL's own, and nothing else is an address."""

from urllib.parse import quote

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidPolicy
from deniable.policy.postgresql_addresses import read_postgresql

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)


def test_the_parts_of_an_address():
    address = read_postgresql(
        "postgresql+psycopg://a%40b:p:w%23@[::1]:5433/d%20b?sslmode=require&port=7#own"
    )
    assert (address.user, address.password, address.host) == ("a@b", "p:w#", "::1")
    assert (address.port, address.database, address.name) == (5433, "d b", "own")
    assert address.options == (("sslmode", "require"), ("port", "7"))
    assert read_postgresql("postgresql://").shown == "postgresql:///"
    assert read_postgresql("postgresql://u@/db?host=/run/pg").shown == "postgresql:///run/pg/db"


@given(TEXTS, TEXTS, TEXTS)
def test_any_user_password_and_database_can_be_written(user, password, database):
    """SQLAlchemy's reader of addresses finds the same parts."""
    text = f"postgresql://{quote(user, '')}:{quote(password, '')}@h/{quote(database, '')}"
    address, other = read_postgresql(text), sa.make_url(text)
    assert (address.user, address.password, address.database) == (user, password, database)
    assert (other.username, other.password) == (user, password)


@given(st.text("pos/:@?#&=%.a1[] ", max_size=20))
def test_what_is_read_is_read_alike_by_others(text):
    """No part of what PostgreSQL's driver would take for a password ends up in another part."""
    whole = f"postgresql://{text}"
    try:
        address = read_postgresql(whole)
    except InvalidPolicy:
        return
    other = sa.make_url(whole.partition("#")[0])
    assert (address.password, address.user) == (other.password, other.username)
    assert (address.host, address.port) == (other.host or None, other.port)


@pytest.mark.parametrize(
    "text", ["", "h/db", "https://h/db", "postgresql:///a/b", "postgresql://é"]
)
def test_other_texts_are_no_addresses(text):
    with pytest.raises(InvalidPolicy, match="not an address"):
        read_postgresql(text)


def test_the_parts_make_the_same_address_for_sqlalchemy():
    read = read_postgresql("postgresql://ann:a%40b@db.example.org:5433/ledgers?sslmode=require")
    url = sa.URL.create("postgresql+psycopg", **read.parts)
    assert (url.username, url.password, url.host, url.port) == (
        *("ann", "a@b", "db.example.org"),
        5433,
    )
    assert (url.database, dict(url.query)) == ("ledgers", {"sslmode": "require"})
