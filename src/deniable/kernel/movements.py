"""How far one unit moves the sums of a block, from what one of its rows adds to them."""

from math import ceil

from deniable.kernel.polynomials import Joint, Vectors
from deniable.privacy.neighbors import Neighbors


def movement(
    reach: Joint,
    size: int,
    limits: tuple[int, int],
    neighbors: Neighbors,
    *,
    keyed: bool,
    whole: int | None = None,
) -> tuple[int, int]:
    """L1 and the square of L2 of what one unit moves, with (groups, rows in each) as limits,
    where one row adds what `reach` says to the `size` sums of its group.

    Proof. A unit adds a vector v to each of its groups, |v|1 <= m = rows * total, and |v|2 is
    at most |v|1. If it vanishes, at most `groups` vectors vanish. If it is replaced, old ones
    leave and new ones w come. In groups that have only one of them they count singly, and there
    are at most 2 * groups of these. In a group that has both, |v - w|1 <= 2 m; and the square
    of |v - w|2 is at most that of |v|2 plus that of |w|2 if no sum is negative, because then v
    and w have no obtuse angle, and else (2 m)**2. A single sum moves by the width of its range,
    with 0 in it, if both are in one group.
    With `whole` rows of a unit in all groups together, the sum of all |v|1 is at most
    s = whole * total. So the sum of their squares is at most m * s; that of the w, too.
    """
    groups, most = limits[0], limits[1] * ceil(reach.total)
    if whole is not None and whole < groups * limits[1]:
        sum_, times = whole * ceil(reach.total), 1 if neighbors == "add-remove" else 2
        obtuse = 2 if times == 2 and reach.low < 0 else 1
        return times * sum_, times * obtuse * sum_ * min(most, sum_)
    if neighbors == "add-remove":
        return groups * most, groups * most**2
    if size > 1:
        return 2 * groups * most, (2 if reach.low >= 0 else 4) * groups * most**2
    span = limits[1] * ceil(max(reach.high, 0) - min(reach.low, 0))
    if not keyed:
        return span, span**2
    return 2 * groups * most, groups * max(span**2, 2 * most**2)


def vector_movement(
    one: Vectors, limits: tuple[int, int], neighbors: Neighbors, whole: int | None
) -> int:
    """The square of L2 of what one unit moves, where a row adds a vector to its group.

    Proof. n rows add at most n times the norm of one. The squares of the n of all groups add up
    to at most s: groups * rows**2, and rows * whole. If the unit is replaced, old vectors v
    leave and new ones w come. |v - w|**2 = |v|**2 + |w|**2 - 2 v.w, and v.w is at least
    -against * n * n', where the n * n' of all groups add up to at most s (Cauchy-Schwarz).
    """
    groups, rows = limits
    times = rows * min(groups * rows, groups * rows if whole is None else whole)
    if neighbors == "add-remove":
        return times * ceil(one.square)
    return 2 * times * ceil(one.square + one.against)
