"""Which inputs are compared with which: given pairs, or all small tables and a relation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from deniable.audit.prove.coins import frozen
from deniable.errors import InvalidParameter
from deniable.exact.rationals import whole
from deniable.privacy import neighboring

_MOST = 200_000


@dataclass(frozen=True, slots=True)
class Datasets:
    """Inputs by their frozen form, and the pairs of them that are neighbours."""

    inputs: dict[Any, Any]
    pairs: tuple[tuple[Any, Any], ...]


def datasets(
    neighbors: str | Iterable[Sequence[Any]] | None,
    domain: Iterable[Any] | None = None,
    size: int | None = None,
) -> Datasets:
    """What `neighbors=`, `domain=` and `size=` stand for.

    A list of groups: all pairs within each group. A domain alone: all pairs of its values, as
    when each person randomizes her own. A domain, a size and a relation: all lists of records.

    >>> datasets("replace", domain="ab", size=1).pairs
    ((('a',), ('b',)),)
    >>> len(datasets("add-remove", domain=[0, 1], size=2).inputs)
    7
    """
    if isinstance(neighbors, str) or size is not None:
        if domain is None or size is None:
            raise InvalidParameter(
                "A relation needs `domain` and `size`: which records there may be, and how "
                "many. Or give the pairs themselves, as neighbors=[(0, 1)]."
            )
        return _tables(list(domain), whole(size, "size"), neighboring(neighbors))
    groups = [list(domain)] if domain is not None else []
    if neighbors is not None:
        groups += grouped(neighbors)
    if not groups or any(len(group) < 2 for group in groups):
        raise _nothing(domain if neighbors is None else neighbors)
    inputs = {frozen(one): one for group in groups for one in group}
    pairs = ((frozen(a), frozen(b)) for group in groups for a, b in combinations(group, 2))
    return Datasets(inputs, tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1])))


def grouped(neighbors: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Groups of inputs, refused where one has nothing to compare.

    >>> grouped([(0, 1), "ab"])
    [[0, 1], ['a', 'b']]
    """
    try:
        groups = [list(group) for group in neighbors]
    except TypeError:
        raise _nothing(neighbors) from None
    if not groups or any(len(group) < 2 for group in groups):
        raise _nothing(neighbors)
    return groups


def _nothing(found: Any) -> InvalidParameter:
    return InvalidParameter(
        "`neighbors` must hold pairs of inputs, as neighbors=[(0, 1)]. Found "
        f"{found!r}: with nothing to compare, nothing can be proved."
    )


def _tables(domain: list[Any], size: int, relation: str) -> Datasets:
    sizes = range(size, size + 1) if relation == "replace" else range(size + 1)
    if sum(len(domain) ** n for n in sizes) > _MOST:
        raise InvalidParameter(
            f"There are over {_MOST} tables of {size} records among {len(domain)} values. A "
            "proof looks at each: take fewer records or values."
        )
    inputs = {frozen(table): list(table) for n in sizes for table in product(domain, repeat=n)}
    pairs: dict[tuple[Any, Any], None] = {}
    for table in inputs.values():
        for i in range(len(table)):
            if relation == "add-remove":
                pairs[frozen(table), frozen(table[:i] + table[i + 1 :])] = None
                continue
            for other in domain[domain.index(table[i]) + 1 :]:
                pairs[frozen(table), frozen([*table[:i], other, *table[i + 1 :]])] = None
    return Datasets(inputs, tuple(pairs))
