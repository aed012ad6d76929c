"""The files that the console's pages load: one stylesheet, two scripts and an icon.

Nothing is loaded from anywhere else. An address names the hash of the content, so that browsers
may keep a file for as long as they like.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HTMX = "htmx-4.0.1.min.js"
HTMX_SHA256 = "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"
ADDRESS = "/console-files"
_FOLDER = Path(__file__).parent
_NAMES = {
    "console.css": ("console.css", "text/css; charset=utf-8"),
    "console.js": ("console.js", "text/javascript; charset=utf-8"),
    "htmx.js": (f"vendor/{HTMX}", "text/javascript; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}


@dataclass(frozen=True, slots=True)
class ConsoleFile:
    """A file of the pages."""

    content: bytes
    media_type: str

    @property
    def digest(self) -> str:
        """The beginning of the hash of its content."""
        return hashlib.sha256(self.content).hexdigest()[:12]


@cache
def console_files() -> dict[str, ConsoleFile]:
    """All files, by the names in their addresses.

    >>> sorted(console_files())
    ['console.css', 'console.js', 'htmx.js', 'icon.svg']
    """
    return {
        name: ConsoleFile((_FOLDER / path).read_bytes(), media_type)
        for name, (path, media_type) in _NAMES.items()
    }


def address_of(name: str) -> str:
    """Where a page finds a file.

    >>> address_of("htmx.js")
    '/console-files/htmx.js?v=a0abb04f2f45'
    """
    return f"{ADDRESS}/{name}?v={console_files()[name].digest}"
