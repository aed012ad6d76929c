"""One-time codes of an authenticator app (TOTP, RFC 6238): six digits that work once.

A code is valid in its half minute and in those next to it, because clocks differ. The step of
the last code is stored, and neither it nor an earlier one works again.
"""

import base64
import hmac
import secrets

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

SECONDS = 30
_DIGITS = 6


def make_secret() -> str:
    """A new secret, as apps take it.

    >>> len(make_secret())
    32
    """
    return base64.b32encode(secrets.token_bytes(20)).decode("ascii")


def code_at(secret: str, step: int) -> str:
    """The code of one half minute, counted since 1970.

    >>> code_at("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 1)  # RFC 6238, appendix B, at 59 seconds
    '287082'
    """
    return _generator(secret).generate(step * SECONDS).decode("ascii")


def matching_step(secret: str, code: str, *, seconds: float, last: int) -> int | None:
    """The step of a code that is valid now and later than the last one used; None for others.

    >>> secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    >>> matching_step(secret, "287082", seconds=59, last=0)
    1
    >>> matching_step(secret, "287082", seconds=59, last=1)
    """
    now, code_bytes, valid_step = int(seconds // SECONDS), code.encode("utf-8", "replace"), None
    for step in (now - 1, now, now + 1):
        same = hmac.compare_digest(code_at(secret, max(0, step)).encode("ascii"), code_bytes)
        if same and step > last:
            valid_step = step
    return valid_step


def setup_uri(secret: str, name: str) -> str:
    """What an authenticator app reads to set itself up.

    >>> setup_uri("GEZDGNBVGY3TQOJQ", "ann")
    'otpauth://totp/Deniable:ann?digits=6&secret=GEZDGNBVGY3TQOJQ&algorithm=SHA1&issuer=Deniable&period=30'
    """
    return _generator(secret).get_provisioning_uri(name, "Deniable")


def _generator(secret: str) -> TOTP:
    return TOTP(base64.b32decode(secret), _DIGITS, SHA1(), SECONDS, enforce_key_length=False)
