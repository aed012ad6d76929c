"""Neighbouring tables: the only place where the relation is named and checked."""

from typing import Literal, TypeAlias, get_args

from deniable.errors import InvalidParameter, MissingRelation

Neighbors: TypeAlias = Literal["add-remove", "replace"]


def neighboring(neighbors: object) -> Neighbors:
    """The neighbouring relation, which must be one of the two.

    >>> neighboring("replace")
    'replace'
    """
    for known in get_args(Neighbors):
        if neighbors == known:
            return known  # type: ignore[no-any-return]
    if neighbors is None:
        raise MissingRelation(
            "`neighbors` is missing, and the answer depends on it. Write "
            'neighbors="add-remove" (the rows of one unit are removed) or '
            'neighbors="replace" (the rows of one unit change).'
        )
    raise InvalidParameter(
        f'`neighbors` must be "add-remove" or "replace". Found {neighbors!r}.'
    )
