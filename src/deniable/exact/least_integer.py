"""The least whole number that is enough, by doubling and then halving."""

from collections.abc import Callable


def least(enough: Callable[[int], bool], *, start: int = 1) -> int:
    """The least whole number from `start` up for which `enough` holds; it must be monotone.

    >>> least(lambda n: n >= 77), least(lambda n: n >= 0, start=0)
    (77, 0)
    """
    if enough(start):
        return start
    below, above = start, max(2 * start, start + 1)
    while not enough(above):
        below, above = above, 2 * above
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return above
