"""Blind signatures: RFC 9474, RSABSSA-SHA384-PSS-Randomized.

A respondent's device makes a random number, the pass. It encodes the pass, multiplies it by
r**e for a random r, and sends that: a number whose distribution is uniform whatever the pass
is. The host signs it. The device divides by r and holds a signature on its pass that the host
has never seen. So the host knows who got a pass, and later that a pass is genuine, but not
whose it is, with any amount of computing. The hardness of RSA protects only the number of
passes, for as long as the survey is open; 2048 bits are enough for that.

`blind` and `finish` are what the device does; here they serve made-up people and tests. The
host's part with the secret key is in `signing_worker`.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.errors import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

NUMBER_BYTES = 32  # of a pass, and of the randomizer before it
_SALT_BYTES = 48
_HASH_BYTES = 48


@dataclass(frozen=True, slots=True)
class BlindPass:
    """A pass as it is sent with a report."""

    number: bytes
    randomizer: bytes
    signature: bytes

    @property
    def hash(self) -> bytes:
        """What the host keeps of a pass that was used."""
        return hashlib.sha256(self.number).digest()


@dataclass(frozen=True, slots=True, repr=False)
class BlindedPass:
    """A pass that waits for its signature, and the number that uncovers it."""

    blinded: bytes
    number: bytes
    randomizer: bytes
    inverse: int


@dataclass(frozen=True, slots=True)
class PublicPassKey:
    """The public key of a survey's passes. It stands in the manifest.

    >>> from deniable.surveys.collect.passes.pass_keys import SecretPassKey
    >>> secret = SecretPassKey.new()
    >>> waiting = secret.public.blind()
    >>> ticket = secret.public.finish(waiting, secret.sign(waiting.blinded))
    >>> secret.public.is_valid(ticket), SecretPassKey.new().public.is_valid(ticket)
    (True, False)
    """

    n: int
    e: int

    def __post_init__(self) -> None:
        bits = self.n.bit_length()
        if bits % 8 or not 2048 <= bits <= 4096 or not 3 <= self.e < 2**32 or not self.e % 2:
            raise InvalidParameter(
                "A pass key must have a modulus of 2048 to 4096 bits, in whole bytes, and an "
                f"odd exponent. Found {bits} bits and the exponent {self.e}."
            )

    @property
    def size(self) -> int:
        """The length of a signature, in bytes."""
        return self.n.bit_length() // 8

    def blind(self) -> BlindedPass:
        """A new random pass, blinded."""
        number, randomizer, salt = (
            secrets.token_bytes(length) for length in (NUMBER_BYTES, NUMBER_BYTES, _SALT_BYTES)
        )
        cover, inverse = self._draw_cover()
        encoded = encode(randomizer + number, salt, self.n.bit_length() - 1)
        blinded = int.from_bytes(encoded) * pow(cover, self.e, self.n) % self.n
        return BlindedPass(blinded.to_bytes(self.size), number, randomizer, inverse)

    def finish(self, waiting: BlindedPass, blind_signature: bytes) -> BlindPass:
        """The pass with its signature. Refuses a host that signed something else."""
        signature = int.from_bytes(blind_signature) * waiting.inverse % self.n
        blind_pass = BlindPass(
            waiting.number, waiting.randomizer, signature.to_bytes(self.size)
        )
        if not self.is_valid(blind_pass):
            raise InvalidData("The host's signature does not fit the pass. Nothing was sent.")
        return blind_pass

    def is_valid(self, ticket: BlindPass) -> bool:
        """Whether a pass was signed with the secret key that belongs to this one."""
        lengths = len(ticket.number), len(ticket.randomizer), len(ticket.signature)
        if lengths != (NUMBER_BYTES, NUMBER_BYTES, self.size):
            return False
        return self.verify(ticket.signature, ticket.randomizer + ticket.number)

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Whether this is a signature of the prepared message: RSASSA-PSS with SHA-384."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
        from cryptography.hazmat.primitives.hashes import SHA384

        try:
            padding = PSS(mgf=MGF1(SHA384()), salt_length=_SALT_BYTES)
            self._key().verify(signature, message, padding, SHA384())
        except InvalidSignature:
            return False
        return True

    def _key(self) -> "RSAPublicKey":
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

        return RSAPublicNumbers(self.e, self.n).public_key()

    def _draw_cover(self) -> tuple[int, int]:
        while True:
            cover = secrets.randbelow(self.n)
            try:
                return cover, pow(cover, -1, self.n)
            except ValueError:  # not coprime to n
                continue


def encode(message: bytes, salt: bytes, bits: int) -> bytes:
    """EMSA-PSS (RFC 8017, section 9.1.1) with SHA-384, for a modulus of `bits` + 1 bits."""
    length = (bits + 7) // 8
    hashed = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    block = bytes(length - len(salt) - _HASH_BYTES - 2) + b"\x01" + salt
    mask = _mask(hashed, len(block))
    masked = bytearray(a ^ b for a, b in zip(block, mask, strict=True))
    masked[0] &= 0xFF >> (8 * length - bits)
    return bytes(masked) + hashed + b"\xbc"


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1 with SHA-384."""
    blocks = -(-length // _HASH_BYTES)
    stream = b"".join(hashlib.sha384(seed + i.to_bytes(4)).digest() for i in range(blocks))
    return stream[:length]
