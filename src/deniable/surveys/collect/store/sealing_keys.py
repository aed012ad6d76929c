"""The key that seals waiting reports: outside the database, and replaced after each batch.

A row that was deleted stays readable in a write-ahead log, in a backup and on the disk. So a
waiting report is only ever written sealed (AES-256-GCM). When its batch is written, the key is
replaced, and what was sealed with it can never be read again, wherever copies of it are.

A crash may come between the database's commit and the replacement of the key. So a new key is
written next to the old one first; the database's commit says which of the two is in use; the
other is removed after that, or at the next start. The folder is tagged so that backup programs
leave it out.
"""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import CollectionUnavailable
from deniable.exact.foreign_text import read_json
from deniable.surveys.collect.private_files import read_private, replace, sync_folder

try:
    import fcntl
except ImportError:  # not POSIX: one server process only
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True

_NONCE_BYTES = 12
_TRIES = 5  # to read a file that others replace
_TAG = (  # the sign of bford.info/cachedir, which backup programs look for
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# The key in this folder must not be copied: it opens reports that wait for their batch.\n"
)


@dataclass(frozen=True, slots=True, repr=False)
class SealingKey:
    """A key with a name. Equal lengths stay equal.

    >>> key = SealingKey.new()
    >>> key.open(key.seal(b"report")), len(key.seal(b"report"))
    (b'report', 34)
    """

    name: str
    _secret: bytes

    @classmethod
    def new(cls) -> "SealingKey":
        """A new random key."""
        return cls(secrets.token_hex(8), secrets.token_bytes(32))

    def seal(self, body: bytes) -> bytes:
        """The report, encrypted."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self._secret).encrypt(nonce, body, None)

    def open(self, sealed: bytes) -> bytes:
        """The report; refuses one that was changed or sealed with another key."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            nonce, text = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
            return AESGCM(self._secret).decrypt(nonce, text, None)
        except (InvalidTag, ValueError):
            raise CollectionUnavailable(
                "A waiting report cannot be opened: it was changed, or its key was replaced "
                "by another. No batch was written."
            ) from None

    def __repr__(self) -> str:
        return f"<sealing key {self.name}>"


class SealingKeyFile:
    """The file of the key in use, and of its successor while they change places."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._last: SealingKey | None = None

    def make_folder(self) -> None:
        """Makes the folder, for its owner only, with the tag for backup programs."""
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        tag = self.file.with_name("CACHEDIR.TAG")
        if not tag.exists():
            tag.write_text(_TAG, encoding="ascii")

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Only one process at a time changes keys. Taken before any lock of the database."""
        handle = os.open(self.file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if _HAS_LOCKS:
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def read(self) -> dict[str, SealingKey]:
        """The keys in the file, by name; none if there is no file."""
        for _ in range(_TRIES):
            if not self.file.exists():
                return {}
            # Another process may replace and overwrite the file just now: look again.
            with suppress(ValueError, TypeError, AttributeError):
                content = read_json(read_private(self.file))
                return {
                    name: SealingKey(name, bytes.fromhex(key)) for name, key in content.items()
                }
        raise CollectionUnavailable(f"The sealing key {str(self.file)!r} cannot be read.")

    def find(self, name: str) -> SealingKey:
        """The key of this name."""
        if self._last is None or self._last.name != name:
            key = self.read().get(name)
            if key is None:
                raise CollectionUnavailable(
                    f"The sealing key {str(self.file)!r} is not the one that this survey's "
                    "database is sealed with. Reports that wait cannot be opened, and no new "
                    "ones are accepted. Servers of one survey share this file. If it is lost, "
                    "`deniable survey close --without-waiting` closes without the reports "
                    "that wait."
                )
            self._last = key
        return self._last

    def write(self, *keys: SealingKey) -> None:
        """Puts these keys in the place of all others, whose bytes are overwritten."""
        text = json.dumps({key.name: key._secret.hex() for key in keys})
        with self._overwriting_old():
            replace(self.file, text.encode())

    def remove(self) -> None:
        """Deletes the file: nothing waits any more."""
        with self._overwriting_old():
            self.file.unlink(missing_ok=True)
            sync_folder(self.file)
        self._last = None

    def keep_only(self, name: str) -> None:
        """Removes the keys that the database does not name; all of them for an empty name."""
        keys = self.read()
        if not name:
            if keys:
                self.remove()
        elif name in keys and len(keys) > 1:
            self.write(keys[name])

    @contextmanager
    def _overwriting_old(self) -> Iterator[None]:
        """Overwrites the file that has lost its name inside, as far as the disk allows that."""
        try:
            handle = os.open(self.file, os.O_WRONLY)
        except FileNotFoundError:
            yield
            return
        try:
            yield
            os.write(handle, bytes(os.fstat(handle).st_size))
            os.fsync(handle)
        finally:
            os.close(handle)
