"""What is printed: advice as a shell takes it, and nothing that a terminal obeys but colours.

Names of columns, keys of groups and texts of questionnaires come from files that others wrote.
Most are escaped where they are printed; this catches the rest. Files and pipes get every
character, because there a CSV must be the data, unchanged.
"""

import codecs
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


_PLAIN = {
    **dict.fromkeys("│┃", "|"),
    **dict.fromkeys("─━", "-"),
    **dict.fromkeys("├└┌┐┘┤┬┴┼╵╷", "+"),
    **dict.fromkeys("█▉▊▋▌▍▎▏", "#"),
    "░": ".",
    "±": "+-",
    "²": "^2",
    "…": "...",
}


def _plain_characters(problem: UnicodeError) -> tuple[str, int]:
    """What stands for characters that an encoding does not have. Letters get their numbers:
    two keys of groups must not look the same."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    characters = problem.object[problem.start : problem.end]
    escaped = ((c, c.encode("ascii", "backslashreplace").decode("ascii")) for c in characters)
    return "".join(_PLAIN.get(character, code) for character, code in escaped), problem.end


def degrade_output() -> None:
    """Lets standard output write plain characters for those that its encoding does not have.

    An answer is charged before it is printed, so that printing must not fail.

    >>> "5 ± 2".encode("ascii", errors="deniable-plain")
    b'5 +- 2'
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="deniable-plain")


codecs.register_error("deniable-plain", _plain_characters)


@contextlib.contextmanager
def escape_output() -> Iterator[None]:
    """Inside this context, standard output is escaped if it is a terminal."""
    if not sys.stdout.isatty():
        yield
        return
    with contextlib.redirect_stdout(EscapingOutput(sys.stdout)):
        yield


def write_as_options(text: str) -> str:
    """A message with options as a shell takes them.

    >>> write_as_options("Ask with epsilon=0.2, or with fresh=True, or brackets=False.")
    'Ask with --epsilon 0.2, or with --fresh, or --no-brackets.'
    """
    text = re.sub(r"\s*\(in Python: .*?\}\)", "", text, flags=re.DOTALL)
    text = re.sub("(?<!key )`(max|keys)_(rows|groups|epsilon)`", r"--\1-\2", text)
    text = re.sub("`(by|columns)`", r"--\1", text)
    text = re.sub(r"\b(fresh|other|nulls)=True\b", r"--\1", text)
    text = re.sub(r"\bbrackets=False\b", "--no-brackets", text)
    text = re.sub("`(other|nulls)`", r"--\1", text)
    text = re.sub(r'cuts=\{"(\w+)": \[\.\.\.\]\}', r"--cuts \1=18,65", text)
    text = re.sub(r'dates=\{"(\w+)": \("([\d-]+)", "([\d-]+)"\)\}', r"--dates \1=\2,\3", text)
    names = "epsilon|delta|margin|relative|confidence|of|analyst"
    return re.sub(rf"\b({names})=([\d_.]+(?:e-?\d+)?\d|\d|'\w+')", r"--\1 \2", text)
