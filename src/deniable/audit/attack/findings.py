"""What an attack found. These are exact facts about real people, so they stay with the owner.

A finding prints under a heading that says so. It refuses pickle and copies, has no form that
can be certified or published, and writes pages that only its owner can read. Findings about
made-up rows say that instead, and their pages may be shown around.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NoReturn

from deniable.audit.attack.finding_pages import write_page
from deniable.audit.attack.finding_sections import Section
from deniable.errors import InvalidParameter

HEADING = (
    "EXACT FACTS ABOUT REAL PEOPLE. For the owner of the data only: do not publish or share."
)
MADE_UP = "MADE-UP ROWS: this says nothing about any real person, and may be shown around."
PROVES_NOTHING = "A low figure proves nothing: another attack may do better."


class AttackFinding(ABC):
    """What an attack found, for the owner alone."""

    title: ClassVar[str]
    made_up: bool

    @abstractmethod
    def sections(self) -> Sequence[Section]:
        """The finding in parts."""

    @property
    def heading(self) -> str:
        """Whom the finding is about, and so who may see it."""
        return MADE_UP if self.made_up else HEADING

    def __str__(self) -> str:
        lines = [self.heading, "", self.title]
        for section in self.sections():
            lines += ["", *section.lines()]
        return "\n".join([*lines, "", PROVES_NOTHING])

    def __repr__(self) -> str:
        return f"<{self.title}: print it to see {'it' if self.made_up else 'exact facts'}>"

    def save(self, path: str | Path) -> None:
        """Writes an HTML page that only its owner can read (mode 0600)."""
        about = {"title": self.title, "heading": self.heading, "note": PROVES_NOTHING}
        page = write_page(self.sections(), **about, shared=self.made_up)
        write_privately(Path(path), page)

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(
            "A finding holds exact facts about real people: it cannot be pickled or copied. "
            "Print it, or write a page that only you can read, with `save`."
        )

    __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = _refuse


def write_privately(path: Path, text: str) -> None:
    """Writes a file that only its owner can read, also if it existed and others could."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            os.fchmod(handle, 0o600)  # before a word is in it
            file.truncate()
            file.write(text)
    except OSError as problem:
        raise InvalidParameter(
            f"{str(path)!r} cannot be written: {problem.strerror or problem}."
        ) from None
