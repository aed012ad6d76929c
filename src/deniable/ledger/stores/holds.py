"""Who is at work on a question: a lock that ends with the process that holds it.

A reservation names a holder, a random token. While its question is being answered, the token is
locked. If the process dies, the operating system (or PostgreSQL) ends the lock, so nobody waits
for an answer that will not come.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deniable.errors import LedgerUnavailable

_open_handles: set[int] = set()


def _close_inherited_handles() -> None:
    """After a fork: the child must not keep its parent's locks alive."""
    for handle in _open_handles:
        with suppress(OSError):
            os.close(handle)
    _open_handles.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited_handles)


class MemoryHolds:
    """The tokens that threads of this process hold.

    >>> holds = MemoryHolds()
    >>> with holds.hold("f00d"):
    ...     holds.is_held("f00d"), holds.is_held("beef")
    (True, False)
    >>> holds.is_held("f00d")
    False
    """

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, token: str) -> Iterator[None]:
        with self._lock:
            self._held.add(token)
        try:
            yield
        finally:
            with self._lock:
                self._held.discard(token)

    def is_held(self, token: str) -> bool:
        return token in self._held


class FileHolds(MemoryHolds):
    """The tokens that processes of this host hold: one locked file each, next to the ledger.

    Where the system has no such locks, only those of this process are known.
    """

    def __init__(self, ledger: Path) -> None:
        super().__init__()
        self._ledger = ledger

    @contextmanager
    def hold(self, token: str) -> Iterator[None]:
        try:
            import fcntl
        except ImportError:  # not POSIX
            with super().hold(token):
                yield
            return
        file = self._file(token)
        try:
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise LedgerUnavailable(
                f"The file {str(file)!r} cannot be made ({problem.strerror}), so others could "
                "not see that this question is being answered. Nothing was spent. Make the "
                "ledger's folder writable."
            ) from None
        _open_handles.add(handle)
        pid = os.getpid()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            if os.getpid() == pid:
                with suppress(OSError):
                    file.unlink()
                _open_handles.discard(handle)
                os.close(handle)

    def is_held(self, token: str) -> bool:
        try:
            import fcntl
        except ImportError:  # not POSIX
            return super().is_held(token)
        try:
            handle = os.open(self._file(token), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        with suppress(OSError):
            self._file(token).unlink()  # what a process that died has left
        return False

    def _file(self, token: str) -> Path:
        return self._ledger.with_name(f"{self._ledger.name}.asking.{token}")
