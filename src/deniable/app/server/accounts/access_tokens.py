"""Access tokens: a prefix that scanners find, 192 random bits, and a checksum.

The checksum finds a token that was cut or mistyped before the database is asked. Only the hash
of a token is stored. A token is random enough for a plain hash.
"""

import hashlib
import re
import secrets
import zlib

PREFIX = "dnb_"
_FORM = re.compile(rf"{PREFIX}([0-9a-f]{{48}})([0-9a-f]{{8}})")


def make_token() -> str:
    """A new token.

    >>> token = make_token()
    >>> token[:4], len(token), is_well_formed(token)
    ('dnb_', 60, True)
    """
    secret = secrets.token_hex(24)
    return f"{PREFIX}{secret}{_checksum(secret)}"


def is_well_formed(token: str) -> bool:
    """Whether a text can be a token at all.

    >>> is_well_formed("dnb_" + "0" * 56)
    False
    """
    match = _FORM.fullmatch(token)
    return match is not None and _checksum(match[1]) == match[2]


def hash_token(token: str) -> str:
    """The hash under which a token is stored.

    >>> hash_token("dnb_")[:8]
    '59314f81'
    """
    return hashlib.sha256(token.encode("ascii")).hexdigest()


def _checksum(secret: str) -> str:
    return f"{zlib.crc32(secret.encode('ascii')):08x}"
