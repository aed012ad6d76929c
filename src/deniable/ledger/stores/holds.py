"""Who is at work on a question: a lock that ends with the process that holds it.

A reservation names a holder, a random token. While its question is being answered, the token is
locked. If the process dies, the operating system (or PostgreSQL) ends the lock, so nobody waits
for an answer that will not come. Holding never waits: a token has one holder or none. Anyone
who gets the token of another has proof that nobody is at work, and keeps others from it.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deniable.errors import LedgerUnavailable

try:
    import fcntl
except ImportError:  # not POSIX: there are no such locks
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True

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
    >>> with holds.hold("f00d") as held, holds.hold("f00d") as twice:
    ...     held, twice, holds.is_held("f00d"), holds.is_held("beef")
    (True, False, True, False)
    >>> holds.is_held("f00d")
    False
    """

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, token: str) -> Iterator[bool]:
        """Holds a token until the end; says False, at once, if another holds it."""
        with self._lock:
            is_free = token not in self._held
            self._held.add(token)
        try:
            yield is_free
        finally:
            with self._lock:
                if is_free:
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
    def hold(self, token: str) -> Iterator[bool]:
        if not _HAS_LOCKS:
            with super().hold(token) as held:
                yield held
            return
        file, pid = self._file(token), os.getpid()
        handle = self._open_locked(file)
        try:
            yield handle is not None
        finally:
            if handle is not None and os.getpid() == pid:
                with suppress(OSError):
                    file.unlink()
                _open_handles.discard(handle)
                os.close(handle)

    def _open_locked(self, file: Path) -> int | None:
        """A handle of a token's file, locked; None if another handle has the lock."""
        while True:
            try:
                handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as problem:
                raise LedgerUnavailable(
                    f"The file {str(file)!r} cannot be made ({problem.strerror}), so others "
                    "could not see that this question is being answered. Nothing was spent. "
                    "Make the ledger's folder writable."
                ) from None
            _open_handles.add(handle)
            locked, here = try_lock(handle), _is_at(file, handle)
            if locked and here:
                return handle
            _open_handles.discard(handle)
            os.close(handle)
            if here:
                return None  # else its last holder has deleted it: make another

    def is_held(self, token: str) -> bool:
        if not _HAS_LOCKS:
            return super().is_held(token)
        file = self._file(token)
        try:
            handle = os.open(file, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            if not try_lock(handle):
                return _is_at(file, handle)
            if _is_at(file, handle):
                file.unlink(missing_ok=True)  # what a process that died has left
            return False
        finally:
            os.close(handle)

    def _file(self, token: str) -> Path:
        return self._ledger.with_name(f"{self._ledger.name}.asking.{token}")


def try_lock(handle: int) -> bool:
    """Locks a file, unless another handle has it. Without locks of the system: always True."""
    if _HAS_LOCKS:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _is_at(file: Path, handle: int) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(file.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
