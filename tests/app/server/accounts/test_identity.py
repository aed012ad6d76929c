import pytest

import deniable as dp
from deniable.app.server.accounts.identity import Person, token_id


@pytest.fixture
def people(identities):
    return identities


def test_a_token_is_its_person(people):
    token = people.new_token("ann", policies=("hospital",), tables=("visits", "staff"))
    assert people.authenticate(f"Bearer {token}") == Person(
        "ann", "analyst", ("hospital",), ("visits", "staff")
    )
    assert people.authenticate(f"bearer {token}").name == "ann"


def test_two_tokens_are_one_person_whatever_the_spelling(people):
    tokens = [people.new_token(name) for name in ("ann", "Ann", "\uff21\uff2e\uff2e")]
    assert {people.authenticate(f"Bearer {token}").name for token in tokens} == {"ann"}


def test_a_person_has_one_role(people):
    people.new_token("ann")
    with pytest.raises(dp.InvalidParameter, match="one role"):
        people.new_token("ann", role="owner")
    with pytest.raises(dp.InvalidParameter, match="`role` must be one of"):
        people.new_token("bob", role="root")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic {0}", "{0}", "Bearer {0}0", "Bearer x{0}", "Bearer ä"],
)
def test_anything_else_is_nobody(people, header):
    token = people.new_token("ann")
    assert people.authenticate(header.format(token)) is None


def test_a_changed_token_is_nobody(people):
    token = people.new_token("ann")
    for place in range(4, len(token)):
        other = token[:place] + ("0" if token[place] != "0" else "1") + token[place + 1 :]
        assert people.authenticate(f"Bearer {other}") is None


def test_a_token_ends(people, clock):
    token = people.new_token("ann", days=2)
    clock.turn(days=2, seconds=-1)
    assert people.authenticate(f"Bearer {token}") is not None
    clock.turn(seconds=1)
    assert people.authenticate(f"Bearer {token}") is None


def test_a_revoked_token_is_nobody_at_once(people):
    kept, ended = people.new_token("ann"), people.new_token("ann")
    assert people.revoke(ended)
    assert people.authenticate(f"Bearer {ended}") is None
    assert people.authenticate(f"Bearer {kept}") is not None
    assert people.revoke(token_id(kept))
    assert people.authenticate(f"Bearer {kept}") is None
    assert not people.revoke("dnb_unknown")
    assert not people.revoke("ä")


def test_the_token_itself_is_not_stored(people, dump):
    token = people.new_token("ann")
    stored = dump()
    assert "ann" in stored
    assert token not in stored
    assert token[4:52] not in stored


def test_a_token_and_a_session_open_no_more_than_the_person_may_use(people):
    people.people.add("ann", role="analyst", policies=("hospital",), tables=("visits", "beds"))
    wide = people.new_token("ann")
    narrow = people.new_token("ann", policies=("hospital", "school"), tables=("beds", "staff"))
    session = people.sessions.begin("ann")
    assert people.authenticate(f"Bearer {wide}").tables == ("visits", "beds")
    person = people.authenticate(f"Bearer {narrow}")
    assert (person.policies, person.tables) == (("hospital",), ("beds",))
    assert people.find_session(session).policies == ("hospital",)
    people.people.grant("ann", tables=("beds",))
    assert people.authenticate(f"Bearer {wide}").tables == ("beds",)
    assert people.find_session(session).policies is None
    assert not people.find_session(session).may_read("hospital", ["visits"])


def test_what_a_token_opens():
    ann = Person("ann", "analyst", ("hospital",), ("visits",))
    assert ann.may_read("hospital", ["visits"])
    assert not ann.may_read("school", ["visits"])
    assert not ann.may_read("hospital", ["visits", "staff"])
    assert Person("bob", "analyst").may_read("school", ["pupils"])
