"""Logging in elsewhere: OpenID Connect's code flow with PKCE, checked by Authlib.

What is sent away is remembered here under the hash of `state`: for which provider, for which
browser, and with which nonce and PKCE verifier. It is used once. So a code that was stolen,
asked for by another browser or meant for another provider opens nothing. A person is the pair
of issuer and subject that the owner has linked. An e-mail address says nothing, and nobody is
added by logging in.
"""

import datetime
import hashlib
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from deniable.app.server.accounts.oidc_providers import Provider
from deniable.app.server.accounts.people import People
from deniable.errors import ServerUnavailable, TooManyQuestions

LOGIN_COOKIE = "__Host-deniable-login"
_ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA"]  # never none, never a shared secret
_LONGEST = datetime.timedelta(minutes=10)
_MOST_LOGINS = 10_000
_SKEW = 60  # seconds that clocks may differ
_TIMEOUT = 10.0
_LARGEST = 256 * 1024  # bytes of a provider's document


class _Begun(NamedTuple):
    """What is remembered of a log-in that was sent away."""

    provider: str
    browser: str
    nonce: str
    verifier: str


class OidcLogin:
    """Sends people to their provider, and reads what they come back with."""

    def __init__(
        self, people: People, providers: Mapping[str, Provider], *, origin: str
    ) -> None:
        self._people, self._providers = people, providers
        self._origin = origin.rstrip("/")

    def knows(self, name: str) -> bool:
        """Whether there is a provider of this name."""
        return name in self._providers

    def begin(self, name: str) -> tuple[str, str] | None:
        """Where to send a browser, and the cookie's value that it must bring back.

        None for an unknown provider.
        """
        provider = self._providers.get(name)
        if provider is None:
            return None
        with self._client(provider) as client:
            addresses = provider.addresses(_fetch(client, provider, provider.discovery))
            state, browser = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
            nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
            url, _ = client.create_authorization_url(
                addresses["authorization_endpoint"],
                state=state,
                nonce=nonce,
                code_verifier=verifier,
            )
        self._remember(state, _Begun(name, _hash(browser), nonce, verifier))
        return str(url), browser

    def finish(self, name: str, answer: Mapping[str, str], *, browser: str) -> str | None:
        """The person who comes back; None if anything at all is wrong."""
        provider, begun = self._providers.get(name), self._recall(answer.get("state", ""))
        if (
            provider is None
            or begun is None
            or begun.provider != name
            or begun.browser != _hash(browser)
            or "error" in answer
            or not answer.get("code")
        ):
            return None
        try:
            with self._client(provider) as client:
                addresses = provider.addresses(_fetch(client, provider, provider.discovery))
                if not _names(provider, answer, required=bool(addresses["iss"])):
                    return None
                token = client.fetch_token(
                    addresses["token_endpoint"],
                    grant_type="authorization_code",
                    code=answer["code"],
                    code_verifier=begun.verifier,
                )
                keys = _fetch(client, provider, addresses["jwks_uri"])
            claims = self._check(provider, token, keys, begun.nonce)
        except (AuthlibBaseError, JoseError, ValueError, TypeError, KeyError):
            return None
        except httpx2.HTTPError:
            raise _unreachable(provider) from None
        return self._people.of_subject(claims["iss"], claims["sub"])

    def _check(
        self, provider: Provider, token: Mapping[str, Any], keys: Any, nonce: str
    ) -> CodeIDToken:
        """The claims of an ID token that this provider signed, for us, for this log-in."""
        decoded = jwt.decode(
            token["id_token"], KeySet.import_key_set(keys), algorithms=_ALGORITHMS
        )
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            options={
                "iss": {"essential": True, "values": [provider.issuer]},
                "aud": {"essential": True, "value": provider.client_id},
            },
            params={
                "nonce": nonce,
                "client_id": provider.client_id,
                "access_token": token.get("access_token"),
            },
        )
        claims.validate(now=int(self._people.clock().timestamp()), leeway=_SKEW)
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise ValueError
        return claims

    def _client(self, provider: Provider) -> Any:
        return OAuth2Client(
            provider.client_id,
            provider.client_secret,
            scope="openid",
            redirect_uri=f"{self._origin}/login/{provider.name}/return",
            code_challenge_method="S256",
            timeout=_TIMEOUT,
            follow_redirects=False,
        )

    def _remember(self, state: str, begun: _Begun) -> None:
        now = self._people.clock()
        with self._people.database.writing() as connection:
            connection.execute(
                "DELETE FROM logins WHERE expires <= ?", (now.isoformat(timespec="seconds"),)
            )
            (waiting,) = connection.execute("SELECT count(*) FROM logins").fetchone()
            if waiting >= _MOST_LOGINS:
                raise TooManyQuestions("Too many people log in just now. Try again later.")
            connection.execute(
                "INSERT INTO logins VALUES (?, ?, ?, ?, ?, ?)",
                (
                    _hash(state),
                    begun.browser,
                    begun.provider,
                    begun.nonce,
                    begun.verifier,
                    (now + _LONGEST).isoformat(timespec="seconds"),
                ),
            )

    def _recall(self, state: str) -> _Begun | None:
        """What was remembered for a state, this once."""
        now = self._people.clock().isoformat(timespec="seconds")
        with self._people.database.writing() as connection:
            row = connection.execute(
                "SELECT provider, browser, nonce, verifier FROM logins"
                " WHERE state = ? AND expires > ?",
                (_hash(state), now),
            ).fetchone()
            connection.execute("DELETE FROM logins WHERE state = ?", (_hash(state),))
        return None if row is None else _Begun(*row)


def _names(provider: Provider, answer: Mapping[str, str], *, required: bool) -> bool:
    """Whether an answer is from this provider, as far as it says (RFC 9207)."""
    issuer = answer.get("iss")
    return issuer == provider.issuer if required or issuer is not None else True


def _fetch(client: Any, provider: Provider, address: str) -> Any:
    """A document of the provider."""
    try:
        response = client.request("GET", address, withhold_token=True)
    except httpx2.HTTPError:
        raise _unreachable(provider) from None
    if response.status_code != 200 or len(response.content) > _LARGEST:
        raise _unreachable(provider)
    try:
        return response.json()
    except ValueError:
        raise _unreachable(provider) from None


def _unreachable(provider: Provider) -> ServerUnavailable:
    return ServerUnavailable(
        f"The provider `{provider.name}` cannot be reached, or does not answer as a provider "
        "does. Try again later, or log in with a password."
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
