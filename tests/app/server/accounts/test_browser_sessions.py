import pytest

from deniable.app.server.accounts.account_stores import open_store
from deniable.app.server.accounts.browser_sessions import (
    ended_cookie,
    session_cookie,
)
from deniable.app.server.accounts.identity import Identities, Person


@pytest.fixture
def sessions(identities):
    identities.people.add("ann", role="auditor")
    return identities.sessions


def test_a_session_is_its_person(identities, sessions):
    assert identities.find_session(sessions.begin("ann")) == Person("ann", "auditor")


@pytest.mark.parametrize("session", ["", "x", "\ud800", "a" * 43])
def test_anything_else_is_nobody(sessions, session):
    sessions.begin("ann")
    assert sessions.find(session) is None


def test_a_login_ends_the_session_that_the_browser_had(sessions):
    planted = sessions.begin("ann")
    new = sessions.begin("ann", instead_of=planted)
    assert new != planted
    assert sessions.find(planted) is None
    assert sessions.find(new) == ("ann", "auditor", None, None)


def test_a_session_ends_after_half_an_hour_without_requests(sessions, clock):
    session = sessions.begin("ann")
    for _ in range(3):
        clock.turn(minutes=29)
        assert sessions.find(session) is not None
    clock.turn(minutes=30)
    assert sessions.find(session) is None


def test_a_session_ends_after_twelve_hours(sessions, clock):
    session = sessions.begin("ann")
    for _ in range(35):
        clock.turn(minutes=20)
        assert sessions.find(session) is not None
    clock.turn(minutes=20)
    assert sessions.find(session) is None


def test_a_logout_is_for_all_workers(identities, sessions, place, clock):
    session = sessions.begin("ann")
    other = open_store(place)
    worker = Identities(other, clock=clock)
    assert worker.find_session(session) is not None
    sessions.end(session)
    assert worker.find_session(session) is None
    other.close()


@pytest.mark.parametrize("act", ["disable", "change_password"])
def test_disabling_and_a_new_password_end_all_sessions(identities, sessions, act):
    session = sessions.begin("ann")
    getattr(identities.people, act)("Ann", *(["hash"] if act == "change_password" else []))
    assert sessions.find(session) is None


def test_old_sessions_are_removed_and_none_is_stored_as_it_is(sessions, clock, dump):
    old = [sessions.begin("ann") for _ in range(3)]
    clock.turn(hours=13)
    new = sessions.begin("ann")
    stored = dump()
    assert stored.count("sessions (") == 1
    assert not any(session in stored for session in [*old, new])


def test_the_cookie_is_for_this_host_and_no_script():
    for cookie in (session_cookie("x"), ended_cookie()):
        assert cookie.startswith("__Host-deniable=")
        assert {"Path=/", "Secure", "HttpOnly", "SameSite=Lax"} <= {*cookie.split("; ")}
        assert "Domain" not in cookie
