"""Repeatable random bits: a keyed source, for randomized answers that must stay the same.

HMAC-SHA256 of a label in counter mode, with a secret key that only its owner has (a
pseudorandom function: Bellare, "New proofs for NMAC and HMAC", 2006). The same label always
gives the same bits, so a randomized answer can be repeated without being stored. Without the
secret the bits cannot be distinguished from fresh ones. The privacy guarantee is then
computational.
"""

import hashlib
import hmac

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.bits import Words


class KeyedBits:
    """A source of bits that depends only on a secret and a label.

    >>> first, again = (KeyedBits(b"x" * 32, "survey 7, question 2") for _ in range(2))
    >>> first.draw(64, 3).tolist() == again.draw(64, 3).tolist()
    True
    """

    def __init__(self, secret: bytes, label: str) -> None:
        if len(secret) < 16:
            raise InvalidParameter(
                f"A secret must have at least 16 bytes. Found {len(secret)}. Draw one with "
                "`secrets.token_bytes(32)`."
            )
        self._key = hmac.new(secret, label.encode(), hashlib.sha256).digest()
        self._blocks = 0
        self._left = b""

    def draw(self, bits: int, count: int) -> Words:
        """The next `count` integers below 2**bits."""
        need = 8 * count
        parts = [self._left]
        have = len(self._left)
        while have < need:
            number = self._blocks.to_bytes(8, "big")
            parts.append(hmac.new(self._key, number, hashlib.sha256).digest())
            self._blocks += 1
            have += 32
        stream = b"".join(parts)
        self._left = stream[need:]
        return np.frombuffer(stream[:need], dtype="<u8") >> np.uint64(64 - bits)
