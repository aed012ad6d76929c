"""How many requests of one person are served at once. Others of that person wait their turn.

A server serves a limited number of requests at a time, each of which may take a while. Without
this, a few accounts with many requests each would keep everybody else out. Who waits holds
nothing but a connection; beyond some, one is told to come back later.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request

from deniable.errors import TooManyQuestions

AT_ONCE = 6
WAITING = 64


class RequestPlaces:
    """Called before every route, after the gate has left the person in the request."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._at_once, self._most = at_once, at_once + waiting
        self._here: Counter[str] = Counter()
        self._places: dict[str, asyncio.Semaphore] = {}

    async def __call__(self, request: Request) -> AsyncIterator[None]:
        """Holds a place of the person until the response was sent."""
        if request.state.person is None:
            yield
            return
        async with self.of(request.state.person.name):
            yield

    @asynccontextmanager
    async def of(self, person: str) -> AsyncIterator[None]:
        """Waits for a place of this person. Refuses if too many wait."""
        if self._here[person] >= self._most:
            raise TooManyQuestions(
                f"Requests of yours are being served: {self._most}. Nothing was spent. Wait "
                "for them."
            )
        self._here[person] += 1
        place = self._places.setdefault(person, asyncio.Semaphore(self._at_once))
        try:
            async with place:
                yield
        finally:
            self._here[person] -= 1
            if not self._here[person]:
                del self._here[person], self._places[person]
