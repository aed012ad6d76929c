"""Passwords, kept as argon2id hashes. Few are computed at once, because each takes memory.

A try with a name that is unknown, has no password or was disabled computes a hash as well: how
long the answer takes does not tell which names exist.
"""

import base64
import secrets
import threading
import unicodedata

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from deniable.errors import InvalidParameter, TooManyQuestions

SHORTEST, LONGEST = 12, 256  # characters
_MEMORY = 64 * 1024  # KiB
_ITERATIONS = 3
_AT_ONCE = 2
_WAITING = 16


class Passwords:
    """Hashes and checks passwords.

    >>> passwords = Passwords(memory=64)
    >>> kept = passwords.hash("correct horse battery")
    >>> kept[:9], passwords.check("correct horse battery", kept), passwords.check("x", kept)
    ('$argon2id', True, False)
    """

    def __init__(self, *, memory: int = _MEMORY) -> None:
        self._memory = memory
        self._running = threading.BoundedSemaphore(_AT_ONCE)
        self._places = threading.BoundedSemaphore(_AT_ONCE + _WAITING)
        self._nobodys = _unknown_hash(memory)

    def hash(self, password: str) -> str:
        """What is stored of a password, with its salt and parameters."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise InvalidParameter(
                f"A password has {SHORTEST} to {LONGEST} characters: a few words in a row are "
                "easy to keep and hard to guess."
            )
        kind = Argon2id(
            salt=secrets.token_bytes(16),
            length=32,
            iterations=_ITERATIONS,
            lanes=1,
            memory_cost=self._memory,
        )
        return kind.derive_phc_encoded(_bytes(password))

    def check(self, password: str, password_hash: str | None) -> bool:
        """Whether a password is the one that was stored; False, as slowly, for none stored."""
        if not self._places.acquire(blocking=False):
            raise TooManyQuestions("Too many people log in just now. Try again in a minute.")
        try:
            with self._running:
                return self._matches(
                    password[:LONGEST], password_hash or self._nobodys
                ) and bool(password_hash)
        finally:
            self._places.release()

    @staticmethod
    def _matches(password: str, password_hash: str) -> bool:
        try:
            Argon2id.verify_phc_encoded(_bytes(password), password_hash)
        except InvalidKey:
            return False
        return True


def _unknown_hash(memory: int) -> str:
    """A hash that costs as much to check as any, and that no password is known for."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).decode("ascii").rstrip("=")
        for size in (16, 32)
    )
    return f"$argon2id$v=19$m={memory},t={_ITERATIONS},p=1${salt}${digest}"


def _bytes(password: str) -> bytes:
    """The same bytes for a password, however the keyboard composes its letters."""
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
