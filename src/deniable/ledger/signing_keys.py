"""The owner's signing key (Ed25519): it signs the ledger's head, and certificates.

The file is made whole, readable by its owner only, and never written over. Whoever holds the
public key, which stands beside it, can check what was signed.
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
    """A signing key; its repr shows the public half only.

    >>> key = SigningKey.new()
    >>> verified(b"head 7", key.sign(b"head 7"), key.public)
    True
    >>> verified(b"head 8", key.sign(b"head 7"), key.public)
    False
    """

    _private: "Ed25519PrivateKey"

    @classmethod
    def new(cls) -> "SigningKey":
        """A fresh key, which lives as long as the process unless it is written down."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def read(cls, path: str | Path) -> "SigningKey":
        """The key in a file, which nobody but its owner may be able to read."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        file = Path(path)
        try:
            mode = file.stat().st_mode
            lines = file.read_text(encoding="ascii").splitlines()
            head, seed = lines[0], bytes.fromhex(lines[1])
        except FileNotFoundError:
            raise LedgerBroken(
                f"There is no signing key {str(path)!r}. It was made with the ledger; put it "
                "back, since a ledger goes on only under its own key."
            ) from None
        except (OSError, ValueError, IndexError):
            raise LedgerBroken(f"{str(path)!r} cannot be read as a signing key.") from None
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InvalidParameter(
                f"The signing key {str(path)!r} can be read by others, who could then forge "
                f"the ledger. Close it with   chmod 600 {path}"
            )
        if head != _HEAD or len(seed) != 32:
            raise LedgerBroken(f"{str(path)!r} is not a signing key of this version.")
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def kept(cls, path: str | Path) -> "SigningKey":
        """The key in a file; made first, where there is none. Safe to race: one wins."""
        file = Path(path)
        if not file.exists():
            cls.new()._write(file)
        return cls.read(file)

    @property
    def public(self) -> str:
        """The public half, as hexadecimal digits."""
        return self._private.public_key().public_bytes_raw().hex()

    def sign(self, message: bytes) -> str:
        """A signature, as hexadecimal digits."""
        return self._private.sign(message).hex()

    def _write(self, file: Path) -> None:
        text = f"{_HEAD}\n{self._private.private_bytes_raw().hex()}\n"
        _whole(file, text, 0o600)
        public = Path(f"{file}.pub")
        if not public.exists():
            _whole(public, f"{type(self).read(file).public}\n", 0o644)

    def __repr__(self) -> str:
        return f"<signing key with public half {self.public}>"

    def __reduce__(self) -> str:
        raise TypeError("A signing key is not pickled: it stays in its file.")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The public half alone: enough to check a ledger, not to go on with it."""

    public: str

    def sign(self, message: bytes) -> str:
        raise LedgerBroken("This ledger was opened to be read: it has no key to sign with.")


def verified(message: bytes, signature: str, public: str) -> bool:
    """Whether the holder of the public key's other half signed this message."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(_digits(public))
        key.verify(_digits(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _digits(text: str) -> bytes:
    """The bytes of hexadecimal digits in their one spelling: no capitals, no spaces."""
    found = bytes.fromhex(text)
    if found.hex() != text:
        raise ValueError
    return found


def _whole(file: Path, text: str, mode: int) -> None:
    """Writes a file whole or not at all, and never over one that is there."""
    beside = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(FileExistsError):  # somebody else was first
            os.link(beside, file)
    finally:
        beside.unlink()
