"""Which tables are neighbours: the one place where the relation is spelt and checked."""

from typing import Literal, TypeAlias, get_args

from deniable.errors import InvalidParameter, MissingRelation

Neighbors: TypeAlias = Literal["add-remove", "replace"]


def neighboring(neighbors: object) -> Neighbors:
    """The relation, refused unless it is one of the two.

    >>> neighboring("replace")
    'replace'
    """
    for known in get_args(Neighbors):
        if neighbors == known:
            return known  # type: ignore[no-any-return]
    if neighbors is None:
        raise MissingRelation(
            "`neighbors` is missing, and the answer depends on it. Say "
            'neighbors="add-remove" (one unit\'s rows vanish) or '
            'neighbors="replace" (one unit\'s rows change).'
        )
    raise InvalidParameter(
        f'`neighbors` must be "add-remove" or "replace". Found {neighbors!r}.'
    )
