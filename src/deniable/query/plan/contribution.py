"""How much one unit can contribute to the integers of a block: this gives their sensitivity."""

from dataclasses import dataclass

from deniable.privacy.neighbors import Neighbors


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one row adds to a block's integers: non-negative amounts whose sum is at most
    `total`; or, for a single integer, an amount between `low` and `high`.

    >>> Contribution(size=1, total=1, low=0, high=1).sensitivities(
    ...     groups=2, rows=3, neighbors="add-remove", keyed=True
    ... )
    (6, 18)
    """

    size: int  # how many integers there are
    total: int
    low: int
    high: int
    once: bool = False  # whether a unit counts once per group, however many rows it has
    square: int | None = None  # of the L2 norm of what a row adds, if it is known better
    against: int = 0  # then: the most that two rows' vectors can point against each other

    def sensitivities(
        self,
        *,
        groups: int,
        rows: int,
        neighbors: Neighbors,
        keyed: bool,
        most_rows: int | None = None,
    ) -> tuple[int, int]:
        """L1, and the square of L2, for a unit with `rows` rows in each of `groups` groups.

        With `most_rows` it has at most that many in all groups together. Then the squares add
        up to at most those of a unit whose rows are all in one place.
        """
        if self.square is not None:
            return self._of_vectors(groups, rows, neighbors, most_rows)
        if most_rows is not None and (self.low >= 0 or self.size == 1):
            return self._within(groups, min(rows, most_rows), most_rows, neighbors)
        rows = 1 if self.once else rows
        most = rows * self.total
        if neighbors == "add-remove":
            return groups * most, groups * most**2
        if self.size == 1:
            # Either one number changes from any value to any other (the width of the range
            # with zero in it), or it leaves one group and enters another (two whole values).
            span = rows * max(1, max(self.high, 0) - min(self.low, 0))
            if not keyed:
                return span, span**2
            return 2 * groups * most, groups * max(span**2, 2 * most**2)
        return 2 * groups * most, 2 * groups * most**2

    def _within(
        self, groups: int, rows: int, most_rows: int, neighbors: Neighbors
    ) -> tuple[int, int]:
        """What a unit moves that has at most `most_rows` rows in all groups together.

        It adds to each group a vector of at most n times `total`, for its n <= `rows` rows
        there; the n add up to at most `whole`, and their squares to `rows` times that. If it is
        replaced, n' other rows come, and |n v - n' w|**2 is at most rows * (n + n') / 2 times
        the larger of 2 total**2 and the square of the width of the range.
        """
        whole = min(groups * rows, most_rows)
        if neighbors == "add-remove":
            return whole * self.total, whole * rows * self.total**2
        span = max(1, max(self.high, 0) - min(self.low, 0)) if self.size == 1 else 0
        return 2 * whole * self.total, whole * rows * max(span**2, 2 * self.total**2)

    def _of_vectors(
        self, groups: int, rows: int, neighbors: Neighbors, most_rows: int | None
    ) -> tuple[int, int]:
        """What a unit moves if each of its rows adds a vector of at most this norm.

        n rows in one group add a vector of at most n times the norm. The squares of the n add
        up to at most `rows` times the number of all rows. A unit that is replaced takes old
        vectors v away and brings new ones w: |v - w|**2 is |v|**2 + |w|**2 - 2 v.w, and v.w is
        at least -`against` for each pair of rows.
        """
        assert self.square is not None
        whole = groups * rows if most_rows is None else min(groups * rows, most_rows)
        squares = whole * min(rows, whole)
        if neighbors == "add-remove":
            return whole * self.total, squares * self.square
        return 2 * whole * self.total, 2 * squares * (self.square + self.against)
