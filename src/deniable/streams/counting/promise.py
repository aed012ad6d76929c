"""What a stream protects, and how far that can move it.

A step's input is the sum of what its events add: whole numbers from `low` to `high`, in grid
steps. What is protected is one event, or all events of a person, of which at most k count in
the life of the stream. The events either come and go ("add-remove"), or are replaced by others,
at other times ("replace").

Let c be a column of the measured matrix, as long as |c|; no column has a negative number. An
event that comes or goes moves the measurements by v c, so by at most M |c| with M = max(|low|,
|high|). An event v c that becomes w d moves them by |v c - w d|. If v and w have the same sign,
this is at most sqrt(v v + w w) |c|, because the angle between c and d is not obtuse: at most
sqrt(2) M |c|. If they have different signs, it is at most (|v| + |w|) |c|: the width of the
range. So events that move in time cost sqrt(2) |c|, and signed values that are replaced 2 M
|c|. In the L1 norm both are 2 M |c|. A person's k events move them by k times that.

If the stream is cut into segments with noise of their own, the k events may be in several. With
k_i in segment i, squares cost at most the sum of k_i**2, which is at most k**2. So the whole
costs what one segment costs with all k.

Without a tally, what counts twice is two events. So a row of a table that is moved after its
step was read, and is read again in a later step, is protected at one time or the other.
"""

from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational, whole
from deniable.privacy.neighbors import Neighbors, neighboring


@dataclass(frozen=True, slots=True)
class Promise:
    """What is protected: one event, or at most `per_person` events of each `person`.

    >>> print(Promise())
    one event at one time (it may come or go)
    >>> print(Promise(event="row"))
    one row at one time (it may come or go)
    >>> print(Promise("replace", person="patient", per_person=5))
    all events of one patient: at most 5 count (they may change, also in time)
    >>> Promise("replace").l2_squared, Promise("replace", -3, 3).l2_squared
    (2, 36)
    """

    neighbors: Neighbors = "add-remove"
    low: int = 0  # what one event adds at least, in grid steps
    high: int = 1
    person: str | None = None  # None: one event is protected
    per_person: int = 1
    event: str = "event"  # what one is called

    def __post_init__(self) -> None:
        neighboring(self.neighbors)
        whole(self.per_person, "per_person")
        if self.low > 0 or self.high < 0 or self.low == self.high:
            raise InvalidParameter(
                "The values of events must have bounds low <= 0 <= high, and low < high. Found "
                f"{self.low} and {self.high}."
            )
        if self.person is None and self.per_person != 1:
            raise InvalidParameter(
                "`per_person` is for streams that protect persons. Name the person with "
                "`person`, or leave `per_person` out to protect one event."
            )

    @property
    def most(self) -> int:
        """The most that one event adds, in absolute value."""
        return max(-self.low, self.high)

    @property
    def l2_squared(self) -> int:
        """The square of how far the protected events move what is measured, in column norms."""
        once = self.most**2
        if self.neighbors == "replace":
            once = max((self.high - self.low) ** 2, 2 * once)
        return self.per_person**2 * once

    @property
    def l1(self) -> int:
        """How far the protected events move what is measured, in numbers that one event is
        in."""
        return self.per_person * self.most * (2 if self.neighbors == "replace" else 1)

    def moves(self, sums: int = 1, events: int = 1) -> tuple[int, int]:
        """L1 and the square of L2 of what one unit moves at most, if that many events of it are
        in each of these sums. The kernel must derive no more for what is read.

        >>> Promise("replace", -3, 3).moves(), Promise(high=5).moves(sums=2, events=3)
        ((6, 36), (30, 450))
        """
        twice, square = (1, self.most**2)
        if self.neighbors == "replace":
            twice, square = (2, max((self.high - self.low) ** 2, 2 * square))
        return twice * sums * events * self.most, sums * events**2 * square

    def __str__(self) -> str:
        moves = {"add-remove": "come or go", "replace": "change, also in time"}[self.neighbors]
        if self.person is None:
            return f"one {self.event} at one time (it may {moves})"
        return (
            f"all events of one {self.person}: at most {self.per_person} count (they may "
            f"{moves})"
        )


def read_bounds(bounds: tuple[Number, Number]) -> tuple[Fraction, Fraction]:
    """The least and the largest value, exactly; refuses what is not two numbers.

    >>> read_bounds((-1, 0.5))
    (Fraction(-1, 1), Fraction(1, 2))
    """
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"`bounds` must be two numbers, (low, high). Found {bounds!r}."
        ) from None
    return rational(low, "bounds"), rational(high, "bounds")
