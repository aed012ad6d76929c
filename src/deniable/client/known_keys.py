"""The owners' keys that were seen before, by the address of the server.

Anyone who connects without a key trusts the first one, and is told so. From then on another
key is refused: somebody else may have taken the server's place.
"""

import json
import os
import warnings
from pathlib import Path

from deniable.errors import InvalidCertificate, InvalidParameter, KeyWarning


def known_keys_file() -> Path:
    """Where the keys are kept: in the user's own settings."""
    settings = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(settings) / "deniable" / "known_keys.json"


def pin_key(url: str, key: str, owner_key: str | None, *, file: Path | None = None) -> str:
    """The key that must have signed every answer: the given one, or that of first use."""
    if owner_key is not None:
        expected = owner_key.strip().lower()
        if len(expected) != 64 or set(expected) - set("0123456789abcdef"):
            raise InvalidParameter("`key` must be the owner's public key: 64 digits.")
        if expected != key:
            raise _other_key(url, "the key that you gave")
        return expected
    place = file or known_keys_file()
    known = _read(place)
    if url in known:
        if known[url] != key:
            raise _other_key(url, f"the one in {str(place)!r}")
        return key
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    temporary.write_text(json.dumps(known | {url: key}, indent=1), encoding="ascii")
    temporary.replace(place)
    warnings.warn(
        f"{url} is used for the first time. From now on its answers must be signed by the key "
        f"{key[:16]}..., which is recorded in {str(place)!r}. Compare it with the owner's, "
        "or give it as key=...",
        KeyWarning,
        stacklevel=4,
    )
    return key


def _read(place: Path) -> dict[str, str]:
    try:
        known = dict(json.loads(place.read_text(encoding="ascii")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError):
        raise InvalidParameter(
            f"{str(place)!r} cannot be read. Repair it, or give key=..."
        ) from None
    return {str(url): str(key) for url, key in known.items()}


def _other_key(url: str, than: str) -> InvalidCertificate:
    return InvalidCertificate(
        f"{url} signs with another key than {than}. Somebody else may have taken its place, or "
        "the owner has a new key: ask the owner. Nothing was asked."
    )
