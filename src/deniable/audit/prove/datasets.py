"""Which inputs are compared: given pairs, or all neighbouring small tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from deniable.audit.prove.comparable_outputs import freeze
from deniable.errors import InvalidParameter
from deniable.exact.rationals import whole
from deniable.privacy import neighboring

_MOST = 200_000


@dataclass(frozen=True, slots=True)
class Datasets:
    """The inputs by their hashable form, and the pairs that are neighbours."""

    inputs: dict[Any, Any]
    pairs: tuple[tuple[Any, Any], ...]


def make_datasets(
    neighbors: str | Iterable[Sequence[Any]] | None,
    domain: Iterable[Any] | None = None,
    size: int | None = None,
) -> Datasets:
    """The inputs and pairs that `neighbors=`, `domain=` and `size=` describe.

    A list of groups: all pairs within each group. Only a domain: all pairs of its values, for
    local mechanisms. A domain, a size and a relation: all lists of records.

    >>> make_datasets("replace", domain="ab", size=1).pairs
    ((('a',), ('b',)),)
    >>> len(make_datasets("add-remove", domain=[0, 1], size=2).inputs)
    7
    """
    if isinstance(neighbors, str) or size is not None:
        if domain is None or size is None:
            raise InvalidParameter(
                "A neighbouring relation needs `domain` (the possible records) and `size` (how "
                "many records). Or give the pairs themselves, as neighbors=[(0, 1)]."
            )
        return _tables(list(domain), whole(size, "size"), neighboring(neighbors))
    groups = [list(domain)] if domain is not None else []
    if neighbors is not None:
        groups += list_groups(neighbors)
    if not groups or any(len(group) < 2 for group in groups):
        raise _no_pairs(domain if neighbors is None else neighbors)
    inputs = {freeze(data): data for group in groups for data in group}
    pairs = ((freeze(a), freeze(b)) for group in groups for a, b in combinations(group, 2))
    return Datasets(inputs, tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1])))


def list_groups(neighbors: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Groups of inputs as lists. Each group must have at least two inputs to compare.

    >>> list_groups([(0, 1), "ab"])
    [[0, 1], ['a', 'b']]
    """
    try:
        groups = [list(group) for group in neighbors]
    except TypeError:
        raise _no_pairs(neighbors) from None
    if not groups or any(len(group) < 2 for group in groups):
        raise _no_pairs(neighbors)
    return groups


def _no_pairs(neighbors: Any) -> InvalidParameter:
    return InvalidParameter(
        "`neighbors` must hold pairs of inputs, as neighbors=[(0, 1)]. Found "
        f"{neighbors!r}: there is nothing to compare."
    )


def _tables(domain: list[Any], size: int, relation: str) -> Datasets:
    sizes = range(size, size + 1) if relation == "replace" else range(size + 1)
    if sum(len(domain) ** n for n in sizes) > _MOST:
        raise InvalidParameter(
            f"There are more than {_MOST} tables of {size} records from {len(domain)} values. "
            "A proof tries each of them: take a smaller `size` or `domain`."
        )
    inputs = {freeze(table): list(table) for n in sizes for table in product(domain, repeat=n)}
    pairs: dict[tuple[Any, Any], None] = {}
    for table in inputs.values():
        for i in range(len(table)):
            if relation == "add-remove":
                pairs[freeze(table), freeze(table[:i] + table[i + 1 :])] = None
                continue
            for other in domain[domain.index(table[i]) + 1 :]:
                pairs[freeze(table), freeze([*table[:i], other, *table[i + 1 :]])] = None
    return Datasets(inputs, tuple(pairs))
