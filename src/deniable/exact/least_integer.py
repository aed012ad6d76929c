"""The least integer that satisfies a condition, by doubling and then bisection."""

from collections.abc import Callable


def find_least(enough: Callable[[int], bool], *, start: int = 1) -> int:
    """The least integer >= `start` for which `enough` holds. `enough` must be monotone.

    >>> find_least(lambda n: n >= 77), find_least(lambda n: n >= 0, start=0)
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
