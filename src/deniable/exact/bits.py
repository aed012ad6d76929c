"""Random bits: AES-256 in counter mode, keyed from the operating system.

Each thread has its own key. It is made from the system's entropy at the first draw and again
after a fork, so no two processes or threads ever share a stream. There is no seed: a test
that needs known bits passes a `ScriptedBits` as `source=`.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]

_KEY_LIFETIME = 1 << 36  # bytes drawn from one key; far inside the safe range of AES-CTR
_LARGEST_BLOCK = 1 << 18
_ZEROS = memoryview(bytes(_LARGEST_BLOCK))


class BitSource(Protocol):
    """Where random bits come from."""

    def draw(self, bits: int, count: int) -> Words:
        """`count` independent uniform integers below 2**bits, 1 <= bits <= 64."""
        ...


class SystemBits:
    """The source of every release: fresh in each thread and after each fork."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._generation = 0
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._generation += 1

    def draw(self, bits: int, count: int) -> Words:
        """`count` independent uniform integers below 2**bits.

        >>> int(SYSTEM.draw(16, 1000).max()) < 2**16
        True
        """
        if bits <= 16:
            short = np.frombuffer(self._bytes(2 * count), dtype=np.uint16)
            return short if bits == 16 else short >> np.uint16(16 - bits)
        words = np.frombuffer(self._bytes(8 * count), dtype=np.uint64)
        return words if bits == 64 else words >> np.uint64(64 - bits)

    def _bytes(self, count: int) -> bytes:
        if count <= _LARGEST_BLOCK:
            return self._block(count)
        whole, rest = divmod(count, _LARGEST_BLOCK)
        return b"".join(self._block(_LARGEST_BLOCK) for _ in range(whole)) + self._block(rest)

    def _block(self, count: int) -> bytes:
        local = self._local
        origin = (os.getpid(), self._generation)
        if getattr(local, "origin", None) != origin or local.drawn > _KEY_LIFETIME:
            local.cipher, local.origin, local.drawn = _fresh_cipher(), origin, 0
        local.drawn += count
        stream: bytes = local.cipher.update(_ZEROS[:count])
        return stream


def _fresh_cipher() -> Any:
    return start_stream(os.urandom(32))


def start_stream(key: bytes) -> Any:
    """AES-256 in counter mode, from its start; `update` of zeros gives its bytes."""
    # Imported here, so that the package loads quickly when nothing is drawn.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()


class ScriptExhausted(Exception):
    """A sampler asked a `ScriptedBits` for more than its script holds."""

    def __init__(self, bits: int) -> None:
        super().__init__(f"The script ended, but the sampler needs {bits} more bits.")
        self.bits = bits


class ScriptedBits:
    """A source that hands out a given list of integers, for tests and proofs.

    >>> ScriptedBits([3, 1]).draw(2, 2).tolist()
    [3, 1]
    """

    def __init__(self, values: Iterable[int]) -> None:
        self._values: Iterator[int] = iter(values)

    def draw(self, bits: int, count: int) -> Words:
        """The next `count` integers of the script, each of which must be below 2**bits."""
        values = []
        for _ in range(count):
            value = next(self._values, None)
            if value is None:
                raise ScriptExhausted(bits)
            if value >> bits:
                raise ValueError(
                    f"The script holds {value}, which does not fit into {bits} bits."
                )
            values.append(value)
        return np.array(values, dtype=np.uint64)


SYSTEM = SystemBits()


def draw_integer(source: BitSource, bits: int) -> int:
    """One uniform integer below 2**bits, for any number of bits.

    >>> draw_integer(ScriptedBits([3, 1]), 65)
    7
    """
    value, missing = 0, bits
    while missing > 0:
        width = min(missing, 64)
        value = value << width | int(source.draw(width, 1)[0])
        missing -= width
    return value
