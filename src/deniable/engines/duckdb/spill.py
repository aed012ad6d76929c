"""Where an engine in our process puts what does not fit into its memory: rows, in the clear.

The folder is its owner's alone (0700), the files in it too (0600), and both are deleted: the
files as soon as a statement ends, however it ends, and the folder with the engine. What a
killed process leaves behind goes when the next engine opens: a living process holds a lock
on its folder, and a lock ends with the process.
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
_LOCK = "in-use"
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
        lock = _lock_file(Path(self.path) / _LOCK)
        self._inherited = _set_owner_only_acl(self.path)
        self._end = weakref.finalize(self, _remove, self.path, lock)

    def clear(self) -> None:
        """Deletes what was spilt; for when nothing uses it any more."""
        for one in Path(self.path).glob("*"):
            if one.name != _LOCK:
                with contextlib.suppress(OSError):
                    shutil.rmtree(one) if one.is_dir() else one.unlink()

    def remove(self) -> None:
        """Deletes the folder and all that is in it."""
        self._end()

    @contextlib.contextmanager
    def private(self) -> Iterator[None]:
        """While this lasts, new files in the folder are for their owner alone."""
        if self._inherited:
            yield
            return
        with _umask:
            yield


def _set_owner_only_acl(folder: str) -> bool:
    """Makes files that are created in a folder 0600; whether the file system knows how.

    A default access list does so whoever creates them and with whatever mode. It is written
    as Linux stores it: version 2, then owner, group and others with their permissions.
    """
    entries = ((0x01, 7), (0x04, 0), (0x20, 0))
    listed = (struct.pack("<HHI", who, may, 0xFFFFFFFF) for who, may in entries)
    try:
        os.setxattr(folder, "system.posix_acl_default", struct.pack("<I", 2) + b"".join(listed))
    except (AttributeError, OSError):
        return False
    return True


class _Umask:
    """The process's mask for new files, narrowed while anybody needs it."""

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
    """An open, locked file; None where it is locked already, or nothing can be locked."""
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
    """Removes what processes left behind that are no more."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            # A folder without a lock is being made this very moment, or is not ours.
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            if not (folder / _LOCK).is_file():
                continue
            lock = _lock_file(folder / _LOCK)
            if lock is not None:
                _remove(str(folder), lock)
