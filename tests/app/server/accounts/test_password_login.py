import pytest

import deniable as dp
from deniable.app.server.accounts.one_time_codes import code_at, make_secret
from deniable.app.server.accounts.password_login import PasswordLogin

RIGHT, WRONG = "correct horse battery", "incorrect horse battery"


@pytest.fixture
def login(identities, passwords):
    identities.people.add("Ann", role="analyst", password_hash=passwords.hash(RIGHT))
    identities.people.add("Bob", role="analyst")  # without a password
    return PasswordLogin(identities.people, passwords)


def test_the_right_password_is_the_person_however_spelt(login):
    assert login.check("ann", RIGHT) == "Ann"


@pytest.mark.parametrize("name", ["Ann", "Bob", "Eve", "", "a\nb", "x" * 1000])
def test_everything_else_is_nobody(login, name):
    assert login.check(name, WRONG) is None


def test_every_try_is_one_hash_whether_the_name_is_known_or_not(login, passwords, monkeypatch):
    runs = []
    matches = passwords._matches
    monkeypatch.setattr(
        passwords, "_matches", lambda *given: runs.append(given[1]) or matches(*given)
    )
    for name in ("Ann", "Bob", "Eve", "a\nb"):
        login.check(name, WRONG)
    assert len(runs) == 4
    assert len({kept.rsplit("$", 2)[0] for kept in runs}) == 1  # at the same cost


@pytest.mark.parametrize("name", ["Ann", "Eve"])
def test_the_eleventh_try_is_refused_and_tries_are_forgotten(login, clock, name):
    for _ in range(10):
        assert login.check(name, WRONG) is None
    with pytest.raises(dp.TooManyQuestions, match="Too many tries"):
        login.check(name.upper(), RIGHT)
    clock.turn(minutes=15)
    assert login.check(name, RIGHT) == ("Ann" if name == "Ann" else None)


def test_a_success_forgets_the_failures(login):
    for _ in range(3):
        for _ in range(9):
            assert login.check("Ann", WRONG) is None
        assert login.check("Ann", RIGHT) == "Ann"


def test_a_code_is_needed_and_works_once(identities, passwords, clock):
    secret = make_secret()
    identities.people.add(
        "Ann", role="analyst", password_hash=passwords.hash(RIGHT), code_secret=secret
    )
    login = PasswordLogin(identities.people, passwords)
    code = code_at(secret, int(clock().timestamp() // 30))
    assert login.check("Ann", RIGHT) is None
    assert login.check("Ann", WRONG, code) is None  # and the code is not used up
    assert login.check("Ann", RIGHT, code) == "Ann"
    assert login.check("Ann", RIGHT, code) is None
    clock.turn(seconds=30)
    assert login.check("Ann", RIGHT, code) is None
    assert login.check("Ann", RIGHT, code_at(secret, int(clock().timestamp() // 30))) == "Ann"


def test_a_disabled_person_does_not_log_in(login, identities):
    identities.people.disable("Ann")
    assert login.check("Ann", RIGHT) is None
