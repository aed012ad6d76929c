"""One turn of a person at a time: nobody's work holds up everybody else's.

What waits for a turn holds no thread. The threads that work are kept apart from those that
serve short requests, so that anyone who only looks is answered, also beside many plans.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import ParamSpec, TypeVar

import anyio

from deniable.errors import TooManyQuestions

_THREADS = 16  # that work at once, of all people
Given = ParamSpec("Given")
Found = TypeVar("Found")


class Turns:
    """What a person asks for is done one after the other, and few may wait. Long work of all
    people is done one after the other, so that many accounts hold up others no more than one.

    >>> turns = Turns(1)
    >>> async def work():
    ...     return await turns.run("ann", len, "four")
    >>> asyncio.run(work())
    4
    """

    def __init__(self, most: int, *, threads: int = _THREADS) -> None:
        self._most = most
        self._here: Counter[str] = Counter()  # those who have a turn or wait for one
        self._turns: dict[str, asyncio.Lock] = {}
        self._long = asyncio.Lock()
        self._threads = anyio.CapacityLimiter(threads)

    async def run(
        self,
        person: str,
        act: Callable[Given, Found],
        *arguments: Given.args,
        **how: Given.kwargs,
    ) -> Found:
        """Does something in a thread, when it is this person's turn."""
        async with self.of(person):
            return await self.work(act, *arguments, **how)

    async def work(
        self, act: Callable[Given, Found], *arguments: Given.args, **how: Given.kwargs
    ) -> Found:
        """Does something in a thread, for somebody who has a turn."""
        return await anyio.to_thread.run_sync(
            lambda: act(*arguments, **how), limiter=self._threads
        )

    @asynccontextmanager
    async def of(self, person: str, *, long: bool = False) -> AsyncIterator[None]:
        """Waits for a turn of this person, and for that of long work. Refuses if too many
        wait."""
        if self._here[person] >= self._most:
            raise TooManyQuestions(
                f"Requests of yours wait for their turn: {self._most}. Nothing was spent. "
                "Wait for them."
            )
        self._here[person] += 1
        turn = self._turns.setdefault(person, asyncio.Lock())
        try:
            async with turn, self._long if long else nullcontext():
                yield
        finally:
            self._here[person] -= 1
            if not self._here[person]:
                del self._here[person], self._turns[person]
