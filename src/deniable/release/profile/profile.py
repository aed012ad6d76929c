"""A profile of a table: it prints as text and is saved as a page."""

from dataclasses import dataclass
from pathlib import Path

from deniable.release.profile.profile_page import write_body, write_page
from deniable.release.profile.profile_text import write_text
from deniable.release.profile.table_profile import TableProfile


@dataclass(frozen=True, slots=True)
class Profile(TableProfile):
    """A first look at a table. It prints in a terminal and can be saved as an HTML page.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> frame = pa.table({"age": [i % 90 for i in range(5000)], "ward": ["A", "B"] * 2500})
    >>> keys, bounds = {"ward": ["A", "B"]}, {"age": (0, 120)}
    >>> with dp.protect(frame, keys=keys, bounds=bounds, epsilon=2) as session:
    ...     look = session.profile("data", epsilon=1)
    >>> print(session.remaining)
    epsilon 1, delta 0
    >>> abs(look.rows.value - 5000) < 100, [column.name for column in look.columns]
    (True, ['age', 'ward'])
    """

    def __str__(self) -> str:
        return write_text(self)

    __repr__ = __str__

    def page(self) -> str:
        """The profile as one HTML page that loads no other file."""
        return write_page(self)

    def _repr_html_(self) -> str:
        return write_body(self)

    def save(self, path: str) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.page(), encoding="utf-8")
