"""Where people log in, whether a page or a program asks: one limit, one answer to failures."""

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from deniable.app.server.accounts.browser_sessions import COOKIE, session_cookie
from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.password_login import PasswordLogin
from deniable.app.server.accounts.passwords import Passwords
from deniable.app.server.rate_limits import AddressLimits, RateLimits
from deniable.errors import TooManyQuestions

LOGINS_PER_HOUR = 120  # from one address


class LoginDesk:
    """Begins and ends sessions. `limits`: how often an address may try."""

    def __init__(
        self,
        identities: Identities,
        passwords: Passwords | None = None,
        limits: RateLimits | None = None,
    ) -> None:
        self._identities = identities
        self._login = PasswordLogin(identities.people, passwords or Passwords())
        self._limits = limits or AddressLimits(LOGINS_PER_HOUR)

    async def log_in(
        self, request: Request, name: str, password: str, code: str
    ) -> tuple[str, str] | None:
        """Who logged in, and the cookie of the new session; None if anything is wrong. 429
        after too many tries for one name."""
        try:
            person = await run_in_threadpool(self._login.check, name, password, code)
        except TooManyQuestions:
            raise HTTPException(429, headers={"Retry-After": "900"}) from None
        if person is None:
            return None
        return person, await run_in_threadpool(self.begin, request, person)

    def begin(self, request: Request, person: str) -> str:
        """The cookie of a new session of a person who proved to be that one."""
        before = request.cookies.get(COOKIE, "")
        return session_cookie(self._identities.sessions.begin(person, instead_of=before))

    def end(self, session: str) -> None:
        """Ends a session, for all workers at once."""
        self._identities.sessions.end(session)

    def limit(self, request: Request) -> None:
        """Refuses an address that tries too often. It may wait for the database of people."""
        address = "" if request.client is None else request.client.host
        if not self._limits.allow(address):
            raise HTTPException(429, headers={"Retry-After": str(self._limits.wait(address))})
