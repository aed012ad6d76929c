"""The secret key of a survey's passes: made once, kept in a file that only its owner reads.

One key serves one survey. A key per person would be a tag, so its hash stands in the manifest,
and the manifest's hash in every invitation.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import InvalidData
from deniable.surveys.collect.passes.blind_signatures import PublicPassKey
from deniable.surveys.collect.passes.signing_worker import RawKey
from deniable.surveys.collect.private_files import read_private, write_once

BITS = 2048
_HEAD = "deniable pass key, version 1"


@dataclass(frozen=True, slots=True, repr=False)
class SecretPassKey:
    """The key that signs blinded passes. Its repr shows nothing.

    >>> SecretPassKey.new().public.size
    256
    """

    raw: RawKey

    @classmethod
    def new(cls) -> "SecretPassKey":
        """A new random key."""
        from cryptography.hazmat.primitives.asymmetric import rsa

        numbers = rsa.generate_private_key(65537, BITS).private_numbers()
        return cls(RawKey(numbers.p, numbers.q, 65537))

    @classmethod
    def read_or_create(cls, file: Path) -> "SecretPassKey":
        """The key in a file, which is made first if missing. Processes may race: one wins."""
        if not file.exists():
            write_once(file, f"{_HEAD}\n{cls.new().line}\n".encode())
        head, _, line = read_private(file).decode("ascii", "replace").partition("\n")
        try:
            if head != _HEAD:
                raise ValueError
            return cls(
                RawKey(**{name: int(text, 16) for name, text in json.loads(line).items()})
            )
        except (ValueError, TypeError, AttributeError):
            raise InvalidData(
                f"{file.name!r} is not a pass key of this version. Passes that were given out "
                "cannot be checked without it. Restore its copy."
            ) from None

    @property
    def public(self) -> PublicPassKey:
        """The key that checks passes."""
        return PublicPassKey(self.raw.p * self.raw.q, self.raw.e)

    @property
    def line(self) -> str:
        """The key as one line of JSON, for its file and for the process that signs."""
        key = {"p": self.raw.p, "q": self.raw.q, "e": self.raw.e}
        return json.dumps({name: f"{number:x}" for name, number in key.items()})

    def sign(self, blinded: bytes) -> bytes:
        """Signs in this process: for tests and examples."""
        return self.raw.sign(int.from_bytes(blinded)).to_bytes(self.public.size)

    def __repr__(self) -> str:
        return "<secret pass key>"

    def __reduce__(self) -> str:
        raise TypeError("A secret pass key cannot be pickled: it stays in its file.")
