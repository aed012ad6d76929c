import pytest

import deniable as dp
from deniable.app.server.accounts.people import ROLES


def test_a_name_is_taken_however_it_is_spelt(identities):
    people = identities.people
    people.add("Ann", role="analyst")
    for name in ("Ann", "ann ", "\uff21nn"):
        with pytest.raises(dp.InvalidParameter, match="Ann is known already, as analyst"):
            people.add(name, role="owner")
    assert people.find("ANN") == "Ann"


def test_a_disabled_name_stays_taken_and_nothing_opens(identities):
    people = identities.people
    people.add("ann", role="analyst")
    people.link("ann", issuer="https://login.example", subject="17")
    token = identities.new_token("ann", role=None)
    people.disable("ann")
    assert identities.authenticate(f"Bearer {token}") is None
    assert people.of_subject("https://login.example", "17") is None
    with pytest.raises(dp.InvalidParameter, match="known already"):
        people.add("ann", role="analyst")
    later = identities.new_token("ann", role=None)
    assert identities.authenticate(f"Bearer {later}") is None


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201])
def test_what_is_no_name_is_refused(identities, name):
    with pytest.raises(dp.InvalidParameter, match="The name of a person"):
        identities.people.add(name, role="analyst")


@pytest.mark.parametrize("role", ["", "root", "Owner"])
def test_there_are_five_roles(identities, role):
    assert len(ROLES) == 5
    with pytest.raises(dp.InvalidParameter, match="`role` must be one of"):
        identities.people.add("ann", role=role)


def test_a_subject_is_one_person_and_only_with_its_issuer(identities):
    people = identities.people
    people.add("ann", role="analyst")
    people.add("bob", role="analyst")
    people.link("ann", issuer="https://a.example", subject="17")
    assert people.of_subject("https://a.example", "17") == "ann"
    assert people.of_subject("https://b.example", "17") is None
    assert people.of_subject("https://a.example", "ann@a.example") is None
    with pytest.raises(dp.InvalidParameter, match="is ann already"):
        people.link("bob", issuer="https://a.example", subject="17")
    people.link("bob", issuer="https://b.example", subject="17")
    assert people.of_subject("https://b.example", "17") == "bob"


def test_what_the_owner_sees_holds_no_secret(identities):
    people = identities.people
    people.add("bob", role="operator")
    people.add("Ann", role="analyst", password_hash="$argon2id$x", code_secret="SECRET")
    token = identities.new_token(
        "Ann", policies=("hospital",), tables=("visits", "staff"), read_only=True
    )
    ann, bob = people.listed()
    assert (ann.name, ann.password, ann.codes, ann.tokens[0][1:]) == (
        "Ann",
        True,
        True,
        ("hospital; visits, staff; read-only", "2027-03-01"),
    )
    assert (bob.password, bob.tokens) == (False, ())
    assert not any(secret in str(ann) for secret in (token, "argon2id", "SECRET"))


def test_unknown_people_are_said(identities):
    for act in (identities.people.find, identities.people.disable):
        with pytest.raises(dp.InvalidParameter, match="deniable user add"):
            act("eve")
    with pytest.raises(dp.InvalidParameter, match="deniable user add"):
        identities.new_token("eve", role=None)
