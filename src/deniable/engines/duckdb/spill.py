"""The folder for what does not fit into DuckDB's memory: rows, not encrypted.

Only the owner can read the folder (0700) and the files in it (0600). Both are deleted: the
files when a statement ends, in any way, and the folder when the engine closes. Copies of CSV
files are here too, until the folder is deleted. What a killed
process leaves behind is deleted when the next engine opens: a running process holds a lock on
its folder, and the lock ends with the process.
"""

import contextlib
import os
import shutil
import struct
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

PREFIX = "deniable-spill-"
_LOCK, _NEW = "in-use", "new"
_KEPT = "kept-"
_OWNER_ONLY_MASK = 0o077


class Spill:
    """A private folder that lives no longer than this object.

    >>> spill = Spill()
    >>> folder = Path(spill.path)
    >>> oct(folder.stat().st_mode & 0o777)
    '0o700'
    >>> spill.remove()
    >>> folder.exists()
    False
    """

    def __init__(self) -> None:
        _remove_abandoned()
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        lock = _lock_file(Path(self.path) / _NEW)
        if lock is not None:  # others look for the name, so it appears when it is locked
            (Path(self.path) / _NEW).rename(Path(self.path) / _LOCK)
        self._inherited = _set_owner_only_acl(self.path)
        self._end = weakref.finalize(self, _remove, self.path, lock)

    def keep(self, place: int) -> Path:
        """A file that stays until the folder is deleted."""
        return Path(self.path) / f"{_KEPT}{place}"

    def clear(self) -> None:
        """Deletes what was spilled, after its last use."""
        for path in Path(self.path).glob("*"):
            if path.name != _LOCK and not path.name.startswith(_KEPT):
                with contextlib.suppress(OSError):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def remove(self) -> None:
        """Deletes the folder and its content."""
        self._end()

    @contextlib.contextmanager
    def private(self) -> Iterator[None]:
        """Inside this context, only the owner can read new files in the folder."""
        if self._inherited:
            yield
            return
        with _umask:
            yield


def _set_owner_only_acl(folder: str) -> bool:
    """Makes new files in a folder 0600; returns whether the file system supports it.

    A default access control list does this for any creator and any mode. It is written as
    Linux stores it: version 2, then owner, group and others with their permissions.
    """
    entries = ((0x01, 7), (0x04, 0), (0x20, 0))
    listed = (struct.pack("<HHI", who, may, 0xFFFFFFFF) for who, may in entries)
    try:
        os.setxattr(folder, "system.posix_acl_default", struct.pack("<I", 2) + b"".join(listed))
    except (AttributeError, OSError):
        return False
    return True


class _Umask:
    """The process's mask for new files, narrowed while at least one user needs it."""

    def __init__(self) -> None:
        self._guard, self._users, self._before = threading.Lock(), 0, 0

    def __enter__(self) -> None:
        with self._guard:
            if self._users == 0:
                self._before = os.umask(_OWNER_ONLY_MASK)
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._users -= 1
            if self._users == 0:
                os.umask(self._before)


_umask = _Umask()


def _lock_file(path: Path) -> int | None:
    """Opens and locks a file; None if it is locked already, or if locking is not possible."""
    if fcntl is None:
        return None
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _remove(path: str, lock: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if lock is not None:
        os.close(lock)


def _remove_abandoned() -> None:
    """Removes the folders of processes that no longer run."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            # A folder without a lock file is just being created, or is not ours.
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            if not (folder / _LOCK).is_file():
                continue
            lock = _lock_file(folder / _LOCK)
            if lock is not None:
                _remove(str(folder), lock)
