"""Bits that follow from a text: for draws that anybody may know, and that must stay the same.

AES-256 in counter mode; its key is the SHA-256 of the text. They protect nothing: who knows the
text can compute them. They serve margins that are found by drawing known noise again, never the
noise of a release: a house rule names the one module that may import this one.
"""

import hashlib
import json

import numpy as np

from deniable.exact.bits import Words, start_stream


class DerivedBits:
    """A source of bits that depends only on some texts.

    >>> first, again, other = (DerivedBits("SELECT 1", x) for x in "aab")
    >>> drawn = first.draw(64, 3).tolist()
    >>> drawn == again.draw(64, 3).tolist(), drawn == other.draw(64, 3).tolist()
    (True, False)
    """

    def __init__(self, *texts: str) -> None:
        self._stream = start_stream(hashlib.sha256(json.dumps(texts).encode()).digest())

    def draw(self, bits: int, count: int) -> Words:
        """The next `count` integers below 2**bits."""
        words = np.frombuffer(self._stream.update(bytes(8 * count)), dtype="<u8")
        return words >> np.uint64(64 - bits)
