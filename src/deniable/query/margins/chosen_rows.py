"""Margins of rows that were chosen by their noisy numbers, with HAVING or ORDER BY ... LIMIT.

The ten largest noisy counts of a thousand are mostly counts whose noise was large, so intervals
that hold for each group by itself fail for the groups that are shown. Here the intervals of one
column hold for all groups together with the requested confidence, before any is chosen. Then
they hold for all chosen ones, however they were chosen.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import prod

from deniable.query.margins.linear_forms import features_of, has_chosen
from deniable.query.plan.plan import GroupKey, Node


def chooses_rows(
    having: Node | None, order: Iterable[tuple[Node, bool]], limit: int | None
) -> bool:
    """Whether the noise decides which groups are in the answer.

    >>> from deniable.query.plan.plan import Feature, KeyColumn
    >>> largest, first = [(Feature("n", 0), True)], [(KeyColumn(0), False)]
    >>> [chooses_rows(None, order, 10) for order in (largest, first)]
    [True, False]
    """
    nodes = [] if having is None else [having]
    nodes += [] if limit is None else [node for node, _ in order]
    return any(features_of(node) or has_chosen(node) for node in nodes)


def confidence_for_each(confidence: Fraction, groups: int) -> Fraction:
    """The confidence of each interval at which all of them hold together.

    >>> confidence_for_each(Fraction(19, 20), 10)
    Fraction(199, 200)
    """
    return 1 - (1 - confidence) / max(1, groups)


def declared_groups(keys: Iterable[GroupKey], *, other: bool) -> int | None:
    """How many groups there are before any is chosen; None if their keys are private.

    >>> declared_groups([GroupKey("ward", "text", ("A", "B"))], other=True)
    3
    """
    sizes = [None if key.values is None else len(key.values) for key in keys]
    known = [size for size in sizes if size is not None]
    return prod(known) + other if len(known) == len(sizes) else None
