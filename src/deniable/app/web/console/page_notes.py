"""Notes of a plan as pages show them: without options that only programs can give."""

import re
from collections.abc import Iterable

from deniable.query.plan.plan import Plan
from deniable.query.planner.notes import note_rows_without_key

_OPTIONS = re.compile(r"; (?:other|nulls)=True .*")


def notes_of(plan: Plan) -> tuple[str, ...]:
    """Everything that a page says about what is counted."""
    return without_options((*plan.notes, *note_rows_without_key(plan)))


def without_options(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes without what only `sql(...)` and the command line can choose.

    >>> without_options(["Rows without day (NULL) are left out; nulls=True adds a group."])
    ('Rows without day (NULL) are left out.',)
    """
    return tuple(_OPTIONS.sub(".", note) for note in notes)
