"""A file of sealed records that is only appended to, and lasts.

Each record is encrypted (AES-GCM, a new nonce each) together with its place and the digest of
the record before it. So records cannot be read, changed, left out or put in another order. The
digest of the last record stands for the whole file. A record that was cut off by a crash was
never relied on: the next one takes its place.
"""

import hashlib
import os
import secrets
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from deniable.errors import InvalidParameter, LedgerBroken, LedgerUnavailable

_HEAD = b"deniable stream state, version 1\n"
_NONCE, _LENGTH = 12, 8
_MOST_BYTES = 1 << 32  # of one record


class MemoryLog:
    """Records in memory, for a ledger in memory: both live as long as the process.

    A digest is shown in the ledger. Here records are not sealed, and a hash of one would tell
    what is in it to anyone who tries all values. So a digest is a random name.

    >>> log = MemoryLog()
    >>> log.append(b"one") == log.digests[-1], list(log.records)
    (True, [b'one'])
    """

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.digests: list[str] = []
        self._lock = threading.RLock()

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """One thread at a time."""
        with self._lock:
            yield False

    def reload(self) -> None:
        """Reads the records again; these are all there."""

    def remove(self) -> None:
        """Removes a state that nothing was charged for."""
        self.records.clear()
        self.digests.clear()

    def append(self, record: bytes) -> str:
        """Adds a record and returns a name for the whole."""
        self.records.append(record)
        self.digests.append(secrets.token_hex(32))
        return self.digests[-1]


class SealedLog:
    """Records in a file, sealed with a key.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "visits.state"
    >>> SealedLog(file, bytes(32)).append(b"step 1") == SealedLog(file, bytes(32)).digests[0]
    True
    """

    def __init__(self, file: Path, key: bytes) -> None:
        self.file, self._cipher = file, AESGCM(key)
        self.records: Sequence[bytes] = ()
        self.digests: list[str] = []
        self._end = 0  # of the last whole record
        self._read()

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """One process at a time; says whether others have appended meanwhile."""
        handle = os.open(f"{self.file}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle)
            changed = self._end != self._whole_end()
            if changed:
                self._read()
            yield changed
        finally:
            os.close(handle)

    def append(self, record: bytes) -> str:
        """Adds a record, which lasts when this returns, and returns the digest of the whole."""
        sealed = self._seal(record)
        try:
            handle = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                begun = self._end == 0
                os.ftruncate(handle, self._end)  # what a crash cut off
                os.lseek(handle, self._end, os.SEEK_SET)
                _write_all(handle, _HEAD + sealed if begun else sealed)
                os.fsync(handle)
                self._end = os.lseek(handle, 0, os.SEEK_CUR)
            finally:
                os.close(handle)
            if begun:
                _sync_folder(self.file.parent)
        except OSError as problem:
            raise LedgerUnavailable(
                f"The state {str(self.file)!r} cannot be written ({problem.strerror}). No "
                "answer was given. Make room, or make its folder writable."
            ) from None
        self.digests.append(_digest(self.digests, sealed))
        return self.digests[-1]

    def reload(self) -> None:
        """Reads the records again, also those that were appended."""
        self._read()

    def remove(self) -> None:
        """Removes a state that nothing was charged for."""
        self.file.unlink(missing_ok=True)
        self.records, self.digests, self._end = (), [], 0

    def _seal(self, record: bytes) -> bytes:
        nonce = secrets.token_bytes(_NONCE)
        text = nonce + self._cipher.encrypt(nonce, record, self._place(self.digests))
        return len(text).to_bytes(_LENGTH, "big") + text

    def _place(self, before: Sequence[str]) -> bytes:
        """What a record is bound to: its place, and all that came before it."""
        return f"{len(before)} {before[-1] if before else ''}".encode()

    def _whole_end(self) -> int:
        """Where the last whole record ends, if the file is as long as we know it; else -1.
        Nothing is read for that."""
        try:
            content_size = self.file.stat().st_size
        except FileNotFoundError:
            return 0
        if content_size == self._end:
            return self._end
        return -1  # another process has written, or a crash has left a part

    def _read(self) -> None:
        content = _read_private(self.file)
        records: list[bytes] = []
        digests: list[str] = []
        at = len(_HEAD)
        if content and not content.startswith(_HEAD[: len(content)]):
            raise LedgerBroken(
                f"{str(self.file)!r} is not the state of a stream of this version. Nothing was "
                "read. Restore it, or use a newer version of Deniable."
            )
        while True:
            size = int.from_bytes(content[at : at + _LENGTH], "big")
            end = at + _LENGTH + size
            if at + _LENGTH > len(content) or end > len(content) or size > _MOST_BYTES:
                break
            sealed = content[at:end]
            text = sealed[_LENGTH:]
            try:
                place = self._place(digests)
                records.append(self._cipher.decrypt(text[:_NONCE], text[_NONCE:], place))
            except (InvalidTag, ValueError):
                raise LedgerBroken(
                    f"Record {len(records)} of the state {str(self.file)!r} was changed, or "
                    "sealed with the key of another ledger. Nothing was read. Restore the "
                    "latest state."
                ) from None
            digests.append(_digest(digests, sealed))
            at = end
        self.records, self.digests = records, digests
        self._end = at if records else 0


def _digest(before: Sequence[str], sealed: bytes) -> str:
    return hashlib.sha256((before[-1] if before else "").encode() + sealed).hexdigest()


def _lock(handle: int) -> None:
    """Waits for the lock of a file, where the system has such locks."""
    try:
        import fcntl
    except ImportError:  # not POSIX
        return
    fcntl.flock(handle, fcntl.LOCK_EX)


def _write_all(handle: int, content: bytes) -> None:
    while content:
        content = content[os.write(handle, content) :]


def _read_private(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise InvalidParameter(
                    f"Other users can read the state {str(file)!r}. Protect it with   "
                    f"chmod 600 {file}"
                )
            return opened.read()
    except FileNotFoundError:
        return b""
    except OSError as problem:
        raise LedgerUnavailable(
            f"The state {str(file)!r} cannot be read ({problem.strerror})."
        ) from None


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
