"""Attribute inference, beside a release that was made without the target.

A study that shows that smoking causes cancer raises the risk that is guessed for every smoker,
also for those who are not in it. That is what studies are for, and no leak. So the secrets of
one half of the people are guessed twice: from a table of this half, and from a table of the
other half, which holds none of them. Only the difference is what the release gives away about
them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from deniable.audit.attack.finding_sections import Section, show_share
from deniable.audit.attack.findings import AttackFinding
from deniable.audit.attack.question_attacks import tabulate
from deniable.audit.attack.rows.owned_sources import OwnedRows, read_owned
from deniable.audit.attack.rows.rehearsed_answers import DELTA, open_forgotten
from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.exact.rationals import Number

Counts = Mapping[tuple[Any, ...], Mapping[Any, float]]


@dataclass(frozen=True, repr=False, eq=False)
class AttributeFinding(AttackFinding):
    """Shares of secrets that are guessed right, with the targets in the release and without."""

    title: ClassVar[str] = "Attribute inference: what the release adds about those in it"
    secret: str
    known: tuple[str, ...]
    people: int
    exact: tuple[float, float]  # with the targets, without them
    private: tuple[float, float]
    epsilon: float
    released: bool = True  # whether a private table had any group
    made_up: bool = False

    @property
    def leak(self) -> float:
        """What exact tables give away about the people in them."""
        return self.exact[0] - self.exact[1]

    @property
    def private_leak(self) -> float:
        """The same with noise."""
        return self.private[0] - self.private[1]

    def sections(self) -> Sequence[Section]:
        about = (
            f"{self.secret} of {self.people:,} people, guessed from {', '.join(self.known)} by "
            "a table of counts."
        )
        rows = tuple(
            (
                name,
                show_share(inside, 1),
                show_share(outside, 1),
                f"{100 * (inside - outside):+.1f} %",
            )
            for name, (inside, outside) in (
                ("exact", self.exact),
                (f"epsilon {self.epsilon:g}", self.private),
            )
        )
        columns = ("table", "right, from their own", "right, from others'", "leak")
        note = (
            "What is guessed from others' table is what anybody could learn: no leak. These "
            "shares are facts about this one division of the rows, not estimates."
        )
        nothing = (
            "The private tables released no group, so nothing is guessed from them: too few "
            "people have the same values. Declare the values of the columns (keys), or ask "
            "about fewer columns."
        )
        notes = (note,) if self.released else (nothing, note)
        return [Section("", (about,), columns, rows), Section("", notes)]


def attribute_inference(
    source: Any,
    *,
    secret: str,
    known: Sequence[str],
    epsilon: Number = 1,
    delta: Number = DELTA,
    table: str | None = None,
    **declared: Any,
) -> AttributeFinding:
    """How well a secret is guessed from known columns, by a table with the targets and one
    without them; exact, and with noise at `epsilon`.

    >>> people = pa.table({"id": range(200), "ill": [i % 2 == 0 for i in range(200)]})
    >>> limits = {"bounds": {"id": (0, 199)}}
    >>> attack = attribute_inference(people, secret="ill", known=["id"], **limits)
    >>> attack.exact[0], attack.leak > 0.3
    (1.0, True)
    """
    owned = read_owned(source, table=table, **declared)
    columns = _check_columns(owned, known, secret)
    order = np.argsort(SYSTEM.draw(63, owned.rows.num_rows))
    halves = [
        OwnedRows(owned.rows.take(pa.array(half)), owned.table, owned.made_up)
        for half in np.array_split(order, 2)
    ]
    targets, price = halves[0].rows, (epsilon, delta)
    exact = [_share(targets, columns, _count(half.rows, columns)) for half in halves]
    tables = [_count_privately(half, columns, *price) for half in halves]
    private = [_share(targets, columns, table) for table in tables]
    return AttributeFinding(
        secret=secret,
        known=tuple(known),
        people=targets.num_rows,
        exact=(exact[0], exact[1]),
        private=(private[0], private[1]),
        epsilon=float(epsilon),
        released=any(tables),
        made_up=owned.made_up,
    )


def _check_columns(owned: OwnedRows, known: Sequence[str], secret: str) -> tuple[str, ...]:
    """The known columns and the secret; refuses others."""
    missing = {secret, *known} - set(owned.rows.column_names)
    if missing or not known or secret in known:
        raise InvalidParameter(
            "`secret` must be a column of the table, and `known` a list of others. The columns "
            f"are: {', '.join(owned.rows.column_names)}."
        )
    return (*known, secret)


def _count(rows: "pa.Table", columns: tuple[str, ...]) -> Counts:
    grouped = rows.group_by(list(columns)).aggregate([([], "count_all")])
    return _nest(grouped.select([*columns, "count_all"]))


def _count_privately(
    owned: OwnedRows, columns: tuple[str, ...], epsilon: Number, delta: Number
) -> Counts:
    (text,) = tabulate(owned, [columns])
    with open_forgotten(owned, epsilon=epsilon, delta=delta) as session:
        answer = session.sql(text, epsilon=epsilon, delta=Fraction(delta))
        return _nest(answer.to_arrow().select([*columns, "n"]))


def _nest(table: "pa.Table") -> Counts:
    """The counts of each value of the last column but one, by the columns before it."""
    counts: dict[tuple[Any, ...], dict[Any, float]] = {}
    for *cell, value, count in zip(
        *(column.to_pylist() for column in table.columns), strict=True
    ):
        counts.setdefault(tuple(map(_plain, cell)), {})[_plain(value)] = float(count)
    return counts


def _plain(value: Any) -> Any:
    """A value as it compares equal in tables and answers."""
    if value is None or isinstance(value, bool):
        return value
    return float(value) if isinstance(value, int | float) else str(value)


def _share(rows: "pa.Table", columns: tuple[str, ...], counts: Counts) -> float:
    """The share of rows whose last column is the most frequent one of their cell."""
    totals: dict[Any, float] = {}
    for cell in counts.values():
        for value, count in cell.items():
            totals[value] = totals.get(value, 0.0) + count
    usual = max(totals, key=totals.__getitem__, default=None)
    guesses = {cell: max(own, key=own.__getitem__) for cell, own in counts.items()}
    people = zip(*(rows[name].to_pylist() for name in columns), strict=True)
    right = [
        guesses.get(tuple(map(_plain, cell)), usual) == _plain(value) for *cell, value in people
    ]
    return float(np.mean(right)) if right else 0.0
