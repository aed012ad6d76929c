"""The owner's signing key (Ed25519). It signs the ledger's head, and certificates.

The key's file is written in one step, readable by its owner only, and never overwritten. The
public key is written next to it. Anyone who has the public key can check a signature.
"""

import contextlib
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import InvalidParameter, LedgerBroken

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_HEAD = "deniable signing key, version 1"  # the first line of a key file


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """A signing key. Its repr shows the public key only.

    >>> key = SigningKey.new()
    >>> signature_is_valid(b"head 7", key.sign(b"head 7"), key.public)
    True
    >>> signature_is_valid(b"head 8", key.sign(b"head 7"), key.public)
    False
    """

    _private: "Ed25519PrivateKey"

    @classmethod
    def new(cls) -> "SigningKey":
        """A new random key, in memory only."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def read(cls, path: str | Path) -> "SigningKey":
        """The key in a file. Only the file's owner may be able to read it."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        file = Path(path)
        try:
            mode = file.stat().st_mode
            lines = file.read_text(encoding="ascii").splitlines()
            head, seed = lines[0], bytes.fromhex(lines[1])
        except FileNotFoundError:
            raise LedgerBroken(
                f"The signing key {str(path)!r} is missing. Restore it: a ledger can be "
                "continued only with the key that it was started with."
            ) from None
        except (OSError, ValueError, IndexError):
            raise LedgerBroken(f"The signing key {str(path)!r} cannot be read.") from None
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InvalidParameter(
                f"Other users can read the signing key {str(path)!r}, and could forge the "
                f"ledger. Protect it with   chmod 600 {path}"
            )
        if head != _HEAD or len(seed) != 32:
            raise LedgerBroken(
                f"{str(path)!r} is not a signing key of this version. Its first line must be   "
                f"{_HEAD}. A later version needs a newer version of Deniable."
            )
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def read_or_create(cls, path: str | Path) -> "SigningKey":
        """The key in a file, which is made first if missing. Processes may race: one wins."""
        file = Path(path)
        if not file.exists():
            cls.new()._write(file)
        return cls.read(file)

    @property
    def public(self) -> str:
        """The public key, as hexadecimal digits."""
        return self._private.public_key().public_bytes_raw().hex()

    def sign(self, message: bytes) -> str:
        """A signature, as hexadecimal digits."""
        return self._private.sign(message).hex()

    def _write(self, file: Path) -> None:
        text = f"{_HEAD}\n{self._private.private_bytes_raw().hex()}\n"
        _write_once(file, text, 0o600)
        public = Path(f"{file}.pub")
        if not public.exists():
            _write_once(public, f"{type(self).read(file).public}\n", 0o644)

    def __repr__(self) -> str:
        return f"<signing key with public key {self.public}>"

    def __reduce__(self) -> str:
        raise TypeError("A signing key cannot be pickled: it stays in its file.")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key without its private key: it can check a ledger, but not add entries."""

    public: str

    def sign(self, message: bytes) -> str:
        raise LedgerBroken("This ledger was opened for reading only: there is no signing key.")


def signature_is_valid(message: bytes, signature: str, public: str) -> bool:
    """Whether this message was signed with the private key of `public`."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(_from_hex(public))
        key.verify(_from_hex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _from_hex(text: str) -> bytes:
    """The bytes of hexadecimal digits, in lower case and without spaces."""
    decoded = bytes.fromhex(text)
    if decoded.hex() != text:
        raise ValueError
    return decoded


def _write_once(file: Path, text: str, mode: int) -> None:
    """Writes a file completely or not at all, and never overwrites a file."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(FileExistsError):  # another process was first
            os.link(temporary, file)
    finally:
        temporary.unlink()
