"""One turn of a person at a time: nobody's work holds up everybody else's."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from deniable.errors import TooManyQuestions


class Turns:
    """What a person asks for is done one after the other, and few may wait. Long work of all
    people is done one after the other, so that many accounts hold up others no more than one.

    >>> turns = Turns(1)
    >>> with turns.of("ann"), turns.of("bob"):
    ...     with turns.of("ann"):
    ...         pass
    Traceback (most recent call last):
    deniable.errors.TooManyQuestions: Questions of yours are being planned: 1. Nothing...
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._here: Counter[str] = Counter()  # those who have a turn or wait for one
        self._turns: dict[str, threading.Lock] = {}
        self._long = threading.Lock()

    @contextmanager
    def of(self, person: str, *, long: bool = False) -> Iterator[None]:
        """Waits for a turn of this person, and for that of long work. Refuses if too many
        wait."""
        with self._lock:
            if self._here[person] >= self._most:
                raise TooManyQuestions(
                    f"Questions of yours are being planned: {self._most}. Nothing was spent. "
                    "Wait for them."
                )
            self._here[person] += 1
            turn = self._turns.setdefault(person, threading.Lock())
        try:
            with turn, self._long if long else nullcontext():
                yield
        finally:
            with self._lock:
                self._here[person] -= 1
                if not self._here[person]:
                    del self._here[person], self._turns[person]
