"""How long a session waits for another: it says so after a second, and gives up at a limit."""

import time
import warnings
from collections.abc import Callable

from deniable.errors import LedgerUnavailable, LedgerWarning

TOLD_AFTER = 1.0  # seconds
LOCK_TIMEOUT = 300.0  # seconds to wait for the lock of a ledger, or of its mark
_PAUSE = 0.001  # seconds between two tries


def wait_for(attempt: Callable[[float], bool], name: str) -> None:
    """Waits until an attempt to get a lock succeeds. It is told how long it may wait itself."""
    if attempt(min(TOLD_AFTER, LOCK_TIMEOUT)):
        return
    tell_waiting(f"Another session holds the lock of {name!r}")
    if not attempt(LOCK_TIMEOUT):
        raise held_error(name)


def held_error(name: str) -> LedgerUnavailable:
    """The error for a lock that another session does not give back."""
    return LedgerUnavailable(
        f"Another session has held the lock of {name!r} for {LOCK_TIMEOUT:g} seconds. Nothing "
        "was released. A charge that was reserved, or may have been, stays. End that session, "
        "or ask again later."
    )


def poll(attempt: Callable[[], bool]) -> Callable[[float], bool]:
    """An attempt that tries again and again, for a lock that cannot be waited for."""

    def attempt_within(seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not attempt():
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE)
        return True

    return attempt_within


def tell_waiting(why: str) -> None:
    """Tells the user that nothing is wrong, but that it takes longer."""
    message = f"{why}. Waiting for it, for at most {LOCK_TIMEOUT:g} seconds."
    warnings.warn(message, LedgerWarning, stacklevel=3)
