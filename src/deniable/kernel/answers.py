"""The outermost SELECT of a statement: the only place where rows of several units meet.

It returns one row per group, with keys and sums, or the counts of cells.
"""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import NamedTuple

from sqlglot import exp

from deniable.kernel.derivation import Derivation
from deniable.kernel.polynomials import Joint, RowSum, joint
from deniable.kernel.reading import Node, conditions, match, no_rule, only, require
from deniable.kernel.relations import Relation
from deniable.kernel.sources import group_names, outputs
from deniable.kernel.values import UNSURE, Form, Names, Value
from deniable.privacy.neighbors import Neighbors

_LAST = ("expressions", "from_", "where", "group", "having", "with_")


class LastSelect(NamedTuple):
    """The columns of the answer, and the rows that were added up to it."""

    columns: Mapping[str, Value]
    made: Mapping[str, Node]  # the expression of each column
    rows: Relation
    keys: Names  # the columns of GROUP BY

    def sources(self, names: Iterable[str]) -> Names:
        """The columns of GROUP BY that some columns of the answer are."""
        parts = [require(self.made.get(name), "A key is missing.") for name in names]
        return frozenset(self.rows.name(part) for part in parts)

    def is_derived(self, name: str) -> bool:
        """Whether a column is a key, or computed from keys."""
        return self.made[name].find(exp.AggFunc) is None

    def counts_values(self, name: str) -> bool:
        """Whether a column is the number of different values."""
        return bool(match(self.made[name], "COUNT(DISTINCT x)"))

    def form(self, name: str) -> RowSum:
        """The sum over rows that a column is."""
        return require(self.columns[name].form, "A feature is not a sum over rows.").rows

    def reach(self, names: tuple[str, ...]) -> Joint:
        """How far one row moves several sums together. Columns that were cut by the same count
        are bounded together, by what the rows below them can do."""
        features = [self.form(name) for name in names]
        shares = [form for form in map(self._share, features) if form is not None]
        if len(shares) == len(names) and len({(s.group, s.cut) for s in shares}) == 1:
            return joint(share.rows for share in shares).times(shares[0].cut)
        return joint(features)

    def _share(self, feature: RowSum) -> Form | None:
        """The share that a plain sum of one column adds up; None for other features."""
        value = self.rows.columns.get(min(feature.boxes, default=""))
        if value is None or value.polynomial is None or value.form is None:
            return None
        plain = feature == value.polynomial.present(feature.boxes)
        return value.form if plain and value.form.cut else None


def answer_of(node: Node, statement: Derivation) -> LastSelect:
    """Adds up the rows of each group. HAVING may leave out groups whose keys are not declared.

    Proof. Rows belong to known units. One unit adds to the sums of a group what its own rows
    there add, and these are the only rows that change when the unit does. Which groups are left
    out depends on their keys alone, so it is the same for all tables.
    """
    if not isinstance(node, exp.Select):
        raise no_rule(node)
    rows = statement.filtered(only(node, *_LAST), {})
    known = rows.owner is not None and rows.known
    require(known, "The answer is not about rows of known units.")
    keys = group_names(node, rows)
    numbered = rows.numbered and keys & rows.units
    require(not numbered, "The answer has row numbers for keys.")
    groups = Relation({name: rows.columns[name] for name in keys}, None, 1)
    for condition in conditions(node.args.get("having")):
        statement.among(groups, condition, {})
    columns = statement.summed(node, rows, keys).columns
    sure = all(value.zeros != UNSURE for value in columns.values())
    require(sure, "A key may be 0 with either sign.")
    return LastSelect(columns, outputs(node, rows), rows, keys)


def movement(
    reach: Joint, size: int, limits: tuple[int, int], neighbors: Neighbors, *, keyed: bool
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
    """
    groups, most = limits[0], limits[1] * ceil(reach.total)
    if neighbors == "add-remove":
        return groups * most, groups * most**2
    if size > 1:
        return 2 * groups * most, (2 if reach.low >= 0 else 4) * groups * most**2
    span = limits[1] * ceil(max(reach.high, 0) - min(reach.low, 0))
    if not keyed:
        return span, span**2
    return 2 * groups * most, groups * max(span**2, 2 * most**2)
