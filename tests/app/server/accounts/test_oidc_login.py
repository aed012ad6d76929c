"""Log-ins against a provider that runs here, and the classic attacks on them."""

from urllib.parse import parse_qs, urlsplit

import pytest

import deniable as dp
from deniable.app.server.accounts.oidc_login import OidcLogin
from deniable.app.server.accounts.oidc_providers import Provider
from tests.app.server.accounts.provider import (
    OTHER_KEY,
    running_provider,
    sign,
    sign_with_nothing,
    sign_with_public_key,
)
from tests.app.server.hostile_addresses import ADDRESSES

ORIGIN = "https://stats.clinic.example"
NAMED = ("authorization_endpoint", "token_endpoint", "jwks_uri")  # in a discovery document


@pytest.fixture
def provider(clock):
    with running_provider(clock) as running:
        yield running


@pytest.fixture
def login(identities, provider):
    identities.people.add("Ann", role="analyst")
    identities.people.link("Ann", issuer=provider.issuer, subject="17")
    known = Provider("clinic", provider.issuer, "deniable", provider.secret)
    return OidcLogin(identities.people, {"clinic": known}, origin=ORIGIN)


def test_a_linked_subject_logs_in(login, provider):
    url, browser = login.begin("clinic")
    assert login.finish("clinic", provider.authorize(url), browser=browser) == "Ann"


def test_what_is_sent_away(login, provider):
    url, browser = login.begin("clinic")
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert url.startswith(f"{provider.issuer}/authorize?")
    assert query["redirect_uri"] == f"{ORIGIN}/login/clinic/return"
    assert (query["response_type"], query["scope"]) == ("code", "openid")
    assert query["code_challenge_method"] == "S256"
    assert len({query[name] for name in ("state", "nonce", "code_challenge")} | {browser}) == 4
    login.finish("clinic", provider.authorize(url), browser=browser)
    assert provider.seen[0]["code_verifier"] not in url


def test_nobody_is_added_and_an_email_says_nothing(login, provider, identities):
    provider.subject = "18"  # with the e-mail address of Ann
    identities.people.add("ann@clinic.example", role="owner")
    url, browser = login.begin("clinic")
    assert login.finish("clinic", provider.authorize(url), browser=browser) is None
    assert [account.name for account in identities.people.listed()] == [
        "Ann",
        "ann@clinic.example",
    ]


FORGERIES = {
    "alg none": sign_with_nothing,
    "HS256 with the public key": sign_with_public_key,
    "another key": lambda claims: sign(claims, key=OTHER_KEY),
    "no signature": lambda claims: sign(claims).rpartition(".")[0] + ".",
    "not a token": lambda claims: "x",
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_signatures_are_refused(login, provider, forgery):
    provider.sign = FORGERIES[forgery]
    url, browser = login.begin("clinic")
    assert login.finish("clinic", provider.authorize(url), browser=browser) is None
    assert provider.seen  # it did come to the token


WRONG = {
    "aud": {"aud": "another-client"},
    "aud among others": {"aud": ["another-client", "third"], "azp": "another-client"},
    "aud, but our azp": {"aud": "another-client", "azp": "deniable"},
    "azp": {"aud": ["deniable", "another-client"], "azp": "another-client"},
    "no azp": {"aud": ["deniable", "another-client"]},
    "iss": {"iss": "https://evil.example"},
    "nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a number as subject": {"sub": 17},
    "expired": {"exp": 1},
    "issued tomorrow": {"iat": 4102444800},
    "no end": {"exp": None},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_claims_are_refused(login, provider, wrong):
    def change(claims):
        changed = claims | WRONG[wrong]
        return {name: value for name, value in changed.items() if value is not None}

    provider.claims = change
    url, browser = login.begin("clinic")
    assert login.finish("clinic", provider.authorize(url), browser=browser) is None
    assert provider.seen


def test_a_provider_cannot_speak_for_another_one(login, provider, identities):
    identities.people.add("Olga", role="owner")
    identities.people.link("Olga", issuer="https://evil.example", subject="17")
    provider.claims = lambda claims: claims | {"iss": "https://evil.example"}
    url, browser = login.begin("clinic")
    assert login.finish("clinic", provider.authorize(url), browser=browser) is None
    assert provider.seen


def test_clocks_may_differ_by_a_minute(login, provider, clock):
    for late, works in [(350, True), (361, False)]:
        url, browser = login.begin("clinic")
        answer = provider.authorize(url)
        issued = clock().timestamp()
        provider.claims = lambda claims, at=issued - late: (
            claims
            | {
                "iat": int(at),
                "exp": int(at) + 300,
            }
        )
        name = login.finish("clinic", answer, browser=browser)
        assert name == ("Ann" if works else None)


def test_an_answer_works_once(login, provider):
    url, browser = login.begin("clinic")
    answer = provider.authorize(url)
    assert login.finish("clinic", answer, browser=browser) == "Ann"
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    provider.codes[answer["code"]] = (query, "17")  # a provider that forgets
    assert login.finish("clinic", answer, browser=browser) is None


def test_a_stolen_code_does_not_work_in_another_login(login, provider):
    stolen = provider.authorize(login.begin("clinic")[0])
    url, browser = login.begin("clinic")
    answer = provider.authorize(url) | {"code": stolen["code"]}
    assert login.finish("clinic", answer, browser=browser) is None


@pytest.mark.parametrize("state", ["", "x", None])
def test_an_unknown_state_is_refused_before_the_provider_is_asked(login, provider, state):
    url, browser = login.begin("clinic")
    answer = provider.authorize(url) | {"state": state}
    if state is None:
        del answer["state"]
    assert login.finish("clinic", answer, browser=browser) is None
    assert provider.seen == []


def test_the_answer_of_another_browser_is_refused(login, provider):
    url, browser = login.begin("clinic")
    _, other = login.begin("clinic")
    answer = provider.authorize(url)
    assert login.finish("clinic", answer, browser=other) is None
    assert login.finish("clinic", answer, browser=browser) is None  # the state was used up
    assert provider.seen == []


def test_an_answer_that_comes_late_is_refused(login, provider, clock):
    url, browser = login.begin("clinic")
    answer = provider.authorize(url)
    clock.turn(minutes=10)
    assert login.finish("clinic", answer, browser=browser) is None


def test_a_refusal_of_the_provider_is_a_refusal(login, provider):
    url, browser = login.begin("clinic")
    answer = provider.authorize(url) | {"error": "access_denied"}
    assert login.finish("clinic", answer, browser=browser) is None
    assert provider.seen == []


@pytest.mark.parametrize("issuer", ["https://evil.example", None, ""])
def test_issuers_are_not_mixed_up_by_the_answer(login, provider, issuer):
    url, browser = login.begin("clinic")
    answer = provider.authorize(url) | {"iss": issuer}
    if issuer is None:
        del answer["iss"]
    assert login.finish("clinic", answer, browser=browser) is None
    assert provider.seen == []  # the code was sent to nobody


def test_issuers_are_not_mixed_up_by_the_place_of_return(identities, provider, clock):
    with running_provider(clock) as evil:
        evil.document["authorization_response_iss_parameter_supported"] = False
        known = {
            "clinic": Provider("clinic", provider.issuer, "deniable", provider.secret),
            "evil": Provider("evil", evil.issuer, "deniable", evil.secret),
        }
        login = OidcLogin(identities.people, known, origin=ORIGIN)
        url, browser = login.begin("clinic")
        answer = provider.authorize(url)
        del answer["iss"]
        assert login.finish("evil", answer, browser=browser) is None
        assert evil.seen == provider.seen == []


def test_the_same_subject_of_another_issuer_is_somebody_else(identities, provider, clock):
    identities.people.add("Ann", role="analyst")
    identities.people.link("Ann", issuer=provider.issuer, subject="17")
    with running_provider(clock) as evil:
        known = {"evil": Provider("evil", evil.issuer, "deniable", evil.secret)}
        login = OidcLogin(identities.people, known, origin=ORIGIN)
        url, browser = login.begin("evil")
        assert login.finish("evil", evil.authorize(url), browser=browser) is None
        assert evil.seen


def test_a_provider_that_describes_another_issuer_is_refused(login, provider):
    provider.document["issuer"] = "https://evil.example"
    with pytest.raises(dp.ServerUnavailable, match="another issuer"):
        login.begin("clinic")


@pytest.mark.parametrize(
    "address", ["http://evil.example/token", "file:///etc/passwd", 7, None]
)
def test_addresses_that_are_not_https_are_refused(login, provider, address):
    provider.document["token_endpoint"] = address
    with pytest.raises(dp.ServerUnavailable, match="no https address as its token_endpoint"):
        login.begin("clinic")


@pytest.mark.parametrize("name", NAMED)
def test_a_provider_names_no_address_that_is_internal_by_its_spelling(name):
    """Fifty spellings, as https addresses too. The issuer's own host is the owner's choice."""
    issuer = "https://login.clinic.example"
    public = Provider("clinic", issuer, "deniable")
    document = {"issuer": issuer} | dict.fromkeys(NAMED, f"{issuer}/x")
    assert public.addresses(document)[name] == f"{issuer}/x"
    elsewhere = document | {name: "https://keys.example.com/x"}
    assert public.addresses(elsewhere)[name] == "https://keys.example.com/x"
    for address in ADDRESSES:
        host = address.rpartition("//")[2].partition("/")[0]
        if host == "evil.example:9":
            continue  # a public host
        for spelt in (address, f"https://{host}/x"):
            with pytest.raises(dp.ServerUnavailable, match=f"as its {name}"):
                public.addresses(document | {name: spelt})
    inside = Provider("clinic", "https://10.0.0.1", "deniable")
    own = {key: f"https://10.0.0.1/{key}" for key in NAMED} | {"issuer": inside.issuer}
    assert inside.addresses(own)[name] == f"https://10.0.0.1/{name}"


def test_an_unknown_provider_is_nobody(login):
    assert login.begin("other") is None
    assert login.finish("other", {"state": "x", "code": "y"}, browser="") is None


def test_a_provider_that_is_away_is_said(identities):
    away = Provider("clinic", "http://127.0.0.1:9", "deniable")
    login = OidcLogin(identities.people, {"clinic": away}, origin=ORIGIN)
    with pytest.raises(dp.ServerUnavailable, match="cannot be reached"):
        login.begin("clinic")
