"""The outermost SELECT of a statement: the only place where rows of several units meet.

It returns one row per group, with keys and sums, or the counts of cells.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.derivation import Derivation
from deniable.kernel.names import group_names, name_of, outputs, scope_of
from deniable.kernel.polynomials import Joint, RowSum, joint
from deniable.kernel.reading import Node, bare, conjuncts, no_rule, only
from deniable.kernel.relations import Relation
from deniable.kernel.values import Form, Value
from deniable.privacy.neighbors import Neighbors

_LAST = ("expressions", "from_", "where", "group", "with_")


@dataclass(frozen=True, slots=True)
class LastSelect:
    """The columns of the answer, and the rows that were added up to it."""

    columns: Mapping[str, Value]
    made: Mapping[str, Node]  # the expression of each column
    rows: Relation
    keys: frozenset[str]  # the columns of GROUP BY

    def source(self, name: str) -> str | None:
        """The column of GROUP BY that a key is; None for other columns of the answer."""
        part = self.made.get(name)
        return name_of(part, self.rows) if isinstance(part, exp.Column) else None

    def is_derived(self, name: str) -> bool:
        """Whether a column is a key, or computed from keys."""
        return self.made[name].find(exp.AggFunc) is None

    def counts_values(self, name: str) -> bool:
        """Whether a column is the number of different values."""
        part = self.made[name]
        return isinstance(part, exp.Count) and isinstance(bare(part.this), exp.Distinct)

    def form(self, name: str) -> RowSum | None:
        """The sum over rows that a column is."""
        held = self.columns[name].form
        return None if held is None else held.rows

    def reach(self, names: tuple[str, ...]) -> Joint:
        """How far one row moves several sums together. Columns that were cut by the same count
        are bounded together, by what the rows below them can do."""
        features = [form for form in map(self.form, names) if form is not None]
        if len(features) < len(names):
            raise PlanRefused("A feature is not a sum over rows.")
        shares = [form for form in map(self._share, features) if form is not None]
        if len(shares) == len(names) and len({(s.group, s.cut) for s in shares}) == 1:
            return joint(share.rows for share in shares).times(shares[0].cut)
        return joint(features)

    def _share(self, feature: RowSum) -> Form | None:
        """The share that a plain sum of one column adds up; None for other features."""
        (_, monomial), factor = next(iter(feature.terms.items()), ((None, ()), 0))
        if len(feature.terms) != 1 or factor != 1 or len(monomial) != 1 or monomial[0][1] != 1:
            return None
        value = self.rows.columns.get(monomial[0][0])
        return value.form if value is not None and value.form and value.form.cut else None


def answer_of(node: Node, statement: Derivation) -> LastSelect:
    """The outermost SELECT, or a SELECT around it that only filters and renames groups."""
    if not isinstance(node, exp.Select) or node.args.get("from_") is None:
        raise no_rule(node)
    source = node.args["from_"].this
    sums = any(output.find(exp.AggFunc) for output in node.expressions)
    if isinstance(source, exp.Subquery) and not sums:
        return _around(only(node, "expressions", "from_", "where"), source, statement)
    return _last(only(node, *_LAST), statement)


def _last(node: exp.Select, statement: Derivation) -> LastSelect:
    """Adds up the rows of each group.

    Proof. Rows belong to known units. One unit adds to the sums of a group what its own rows
    there add, and these are the only rows that change when the unit does.
    """
    rows = statement.filtered(node, {})
    if rows.owner is None or not rows.known:
        raise PlanRefused("The answer is not about rows of known units.")
    keys = group_names(node, rows)
    if rows.numbered and frozenset(keys) & rows.units:
        raise PlanRefused("The answer has row numbers for keys.")
    columns = statement.summed(node, rows, keys).columns
    if any(value.loose for value in columns.values()):
        raise PlanRefused("A key may be 0 with either sign.")
    return LastSelect(columns, outputs(node, rows), rows, frozenset(keys))


def _around(node: exp.Select, source: exp.Subquery, statement: Derivation) -> LastSelect:
    """Groups that are left out by their keys, and cells that are computed from keys: that is
    the same for all tables."""
    only(only(source, "this", "alias").args["alias"], "this")
    inner = _last(only(source.this, *_LAST), statement)
    public = Relation(inner.columns, None, 1)
    derived = {name: value for name, value in inner.columns.items() if inner.is_derived(name)}
    scope, where = scope_of(replace(public, columns=derived)), node.args.get("where")
    for condition in conjuncts(None if where is None else only(where, "this").this):
        if not isinstance(condition, exp.In) or condition.args.get("query") is None:
            raise no_rule(condition)
        scope.value(only(condition, "this", "query").this)
        keys = statement.relation(condition.args["query"], {})
        if [value.kind for value in keys.columns.values()] != ["keys"]:
            raise no_rule(condition)
    columns, made = dict[str, Value](), dict[str, Node]()
    for name, part in outputs(node, public).items():
        own = name_of(part, public) if isinstance(part, exp.Column) else None
        columns[name] = scope.value(part) if own is None else inner.columns[own]
        made[name] = part if own is None else inner.made[own]
    return LastSelect(columns, made, inner.rows, inner.keys)


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
    if whole is not None and reach.low >= 0 and whole < groups * limits[1]:
        sum_, times = whole * ceil(reach.total), 1 if neighbors == "add-remove" else 2
        return times * sum_, times * sum_ * min(most, sum_)
    if neighbors == "add-remove":
        return groups * most, groups * most**2
    if size > 1:
        return 2 * groups * most, (2 if reach.low >= 0 else 4) * groups * most**2
    span = limits[1] * ceil(max(reach.high, 0) - min(reach.low, 0))
    if not keyed:
        return span, span**2
    return 2 * groups * most, groups * max(span**2, 2 * most**2)
