"""Standard output on a terminal: whatever is printed, the terminal obeys nothing but colours.

Names of columns, keys of groups and texts of questionnaires come from files that others wrote.
Most are escaped where they are printed; this catches the rest. Files and pipes get every
character, because there a CSV must be the data, unchanged.
"""

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from typing import TextIO

_KEPT = re.compile("(\n|\x1b\\[[0-9;]*m)")  # line ends, and the colours that we print ourselves


class EscapingOutput(io.TextIOBase):
    """Writes to a terminal, with escapes for every character that would not be shown.

    >>> screen = io.StringIO()
    >>> _ = EscapingOutput(screen).write("Bob\\x1b[2J")
    >>> screen.getvalue()
    'Bob\\\\x1b[2J'
    """

    def __init__(self, screen: TextIO) -> None:
        self._screen = screen

    def write(self, text: str) -> int:
        """Writes the text. Colours and line ends stay as they are."""
        parts = _KEPT.split(text)
        if not all(part.isprintable() for part in parts[::2]):
            from deniable.exact.foreign_text import printable  # slow to import

            parts[::2] = map(printable, parts[::2])
        return self._screen.write("".join(parts))

    def flush(self) -> None:
        """Passes it on."""
        self._screen.flush()

    def isatty(self) -> bool:
        """It stands for a terminal."""
        return True

    def fileno(self) -> int:
        """The terminal's, which tells its width."""
        return self._screen.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The terminal's."""
        return self._screen.encoding


@contextlib.contextmanager
def escape_output() -> Iterator[None]:
    """Inside this context, standard output is escaped if it is a terminal."""
    if not sys.stdout.isatty():
        yield
        return
    with contextlib.redirect_stdout(EscapingOutput(sys.stdout)):
        yield
