"""What the kernel is told beside the plan: public facts about the tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from deniable.privacy.neighbors import Neighbors

MOST_ROWS = 10**15  # no engine makes more rows than this in one statement


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One table: who owns its rows, and what its columns may hold.

    `columns` gives each column one of the kinds "integer" (fits into 64 bits with a sign),
    "wide" (an integer, maybe wider), "number", "text", "boolean", "date" and "other", or lists
    of one of them, as "list of text".
    """

    name: str
    columns: Mapping[str, str] = field(hash=False)
    public: bool = False
    unit: str | None = None  # the column that identifies the unit; None: each row is one
    neighbors: Neighbors = "add-remove"
    row_ceiling: int = MOST_ROWS


@dataclass(frozen=True, slots=True)
class Facts:
    """All tables that a plan may read."""

    tables: tuple[TableFacts, ...]

    def find(self, name: str) -> TableFacts | None:
        """The table of that name, in upper or lower case, or None."""
        matches = [table for table in self.tables if folded(table.name) == folded(name)]
        return matches[0] if len(matches) == 1 else None


_FOLD = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def folded(name: str) -> str:
    """A name as engines compare it: without the case of ASCII letters, and of no others.

    >>> folded("Größe"), folded("\u212a")
    ('größe', '\u212a')
    """
    return name.translate(_FOLD)
