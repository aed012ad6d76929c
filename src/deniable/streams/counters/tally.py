"""How many events of each person have counted, in the whole life of a stream.

The tally is part of the stream's state. It is never computed again from a table: a correction
there would give a person room for events that have counted already.
"""

import operator
from collections.abc import Mapping
from typing import SupportsIndex, TypeAlias

import numpy as np

from deniable.errors import InvalidParameter

Counted = Mapping[str, int]
Person: TypeAlias = str | SupportsIndex  # text, or a whole number of any type


def person_key(person: Person) -> str:
    """A person's name in the tally: text and numbers never share one, equal numbers do.

    Other values are refused. Two that are equal may print differently, and then one person
    would count as two.

    >>> person_key(7), person_key(np.int32(7)), person_key("7")
    ('int:7', 'int:7', 'str:7')
    """
    if isinstance(person, str):
        return f"str:{str.__str__(person)}"  # the text itself, also of a subclass
    if not isinstance(person, bool | np.bool_):
        try:
            return f"int:{operator.index(person)}"
        except TypeError:
            pass
    raise InvalidParameter(
        "`person` must be text or a whole number, so that one person always has the same name. "
        f"Found a value of type {type(person).__name__}. Nothing was counted."
    )


class EventTally:
    """The events of each person that have counted: at most `most`.

    >>> tally = EventTally(3)
    >>> [tally.take("str:ann", 2), tally.take("str:ann", 2), tally.take("str:ann", 2)]
    [2, 1, 0]
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._counted: dict[str, int] = {}
        self._changed: dict[str, int] = {}  # since the last record

    def take(self, person: str, events: int) -> int:
        """How many of these events count: as many as the person has left."""
        counted = self._counted.get(person, 0)
        taken = min(max(events, 0), self.most - counted)
        if taken:
            self._counted[person] = self._changed[person] = counted + taken
        return taken

    def left(self, person: str) -> int:
        """How many events of a person may still count."""
        return self.most - self._counted.get(person, 0)

    def restore(self, counted: Counted) -> None:
        """Takes over what a record says."""
        self._counted.update(counted)

    def changes(self) -> dict[str, int]:
        """What has changed since the last record."""
        return dict(self._changed)

    def keep(self) -> None:
        """The changes are written."""
        self._changed.clear()
