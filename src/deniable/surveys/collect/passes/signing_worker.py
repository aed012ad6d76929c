"""The private half of blind signatures: the one computation that needs the secret key.

The signature of a blinded message z is z**d mod n. `cryptography` has no raw RSA, so these are
Python integers, whose running time depends on their values. Hence z is multiplied by a random
r**e first (base blinding), so that the time says nothing about z or d. The two halves of the
Chinese remainder theorem are joined, and the result is checked with the public key: one wrong
half would give a factor of n away.

This file also runs alone, as a process of its own, so that signing never holds up the server.
It imports the standard library only, so it starts at once. The first line of its input is the
key, every other line is a blinded message, and each is answered with one line. The process ends
when its input does.
"""

import json
import secrets
import sys
from dataclasses import dataclass

REFUSED = "refused"


@dataclass(frozen=True, slots=True, repr=False)
class RawKey:
    """The factors of a modulus and the public exponent.

    >>> key = RawKey(p=61, q=53, e=17)
    >>> pow(key.sign(65), 17, 61 * 53)
    65
    """

    p: int
    q: int
    e: int

    def sign(self, blinded: int) -> int:
        """The blind signature: the e-th root of a number below the modulus."""
        n = self.p * self.q
        if not 0 < blinded < n:
            raise ValueError("a blinded message must be a positive number below the modulus")
        cover, uncover = _base_blinding(n)
        root = self._root(blinded * pow(cover, self.e, n) % n)
        signature = root * uncover % n
        if pow(signature, self.e, n) != blinded:
            raise ArithmeticError("the signature does not fit its message")
        return signature

    def _root(self, number: int) -> int:
        """The e-th root, from the roots modulo p and q (Garner's formula)."""
        at_p = pow(number % self.p, pow(self.e, -1, self.p - 1), self.p)
        at_q = pow(number % self.q, pow(self.e, -1, self.q - 1), self.q)
        return at_q + self.q * ((at_p - at_q) * pow(self.q, -1, self.p) % self.p)


def _base_blinding(n: int) -> tuple[int, int]:
    """A random number that has an inverse modulo n, and that inverse."""
    while True:
        cover = secrets.randbelow(n)
        try:
            return cover, pow(cover, -1, n)
        except ValueError:  # zero, or a multiple of a factor
            continue


def main() -> None:
    """Answers each line of the input until it ends."""
    key = RawKey(**{name: int(text, 16) for name, text in json.loads(input()).items()})
    for line in sys.stdin:
        try:
            answer = f"{key.sign(int(line, 16)):x}"
        except (ValueError, ArithmeticError):
            answer = REFUSED
        print(answer, flush=True)


if __name__ == "__main__":
    main()
