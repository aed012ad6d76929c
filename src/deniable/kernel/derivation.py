"""A statement from its tables up: one rule for each construct that may stand in it.

Whatever no rule covers is refused: LIMIT, ORDER BY, QUALIFY, samples, recursive WITH, other
joins, frames but ROWS, and every function and aggregate that is not listed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from deniable.kernel import sources
from deniable.kernel.expressions import RowScope, refine
from deniable.kernel.facts import Facts, folded
from deniable.kernel.functions import cut, spread_places, substitute
from deniable.kernel.reading import Node, conditions, match, no_rule, only, require
from deniable.kernel.relations import Relation, unite
from deniable.kernel.unit_windows import window_value
from deniable.kernel.values import Form, Limit, Names, Value, integer

_SELECT = ("expressions", "from_", "joins", "where", "group", "having", "distinct", "with_")
_NUMBER = re.compile(
    r'SELECT ROW_NUMBER\(\) OVER \(\)( \* (\d+) \+ (\d+))? AS "(\w+)", \* FROM '
)
Tables = Mapping[str, Relation]


@dataclass(slots=True)
class Derivation:
    """The derivation of one statement. `keys` are the kinds and sizes of the relations of group
    keys, where these are declared."""

    facts: Facts
    keys: tuple[tuple[str, int] | None, ...] = ()
    part: sources.PartRule | None = None
    read: set[str] = field(default_factory=set)  # the private tables
    numbered: set[str] = field(default_factory=set)  # the tables whose rows are numbered

    def relation(self, node: Node, tables: Tables) -> Relation:
        """What stands in FROM, without its alias; an alias that renames columns has no rule."""
        if node.args.get("alias") is not None:
            only(node.args["alias"], "this")
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            name = folded(only(only(node, "this", "alias").this, "this", "quoted").this)
            return tables[name] if name in tables else self._table(name)
        if isinstance(node, exp.Subquery):
            return self.relation(only(node, "this", "alias").this, tables)
        if isinstance(node, exp.Union) and not node.args.get("distinct"):
            only(node, "this", "expression", "distinct")
            return unite([self.relation(part, tables) for part in (node.this, node.expression)])
        if isinstance(node, exp.Select):
            return self._select(only(node, *_SELECT), tables)
        raise no_rule(node)

    def _table(self, name: str) -> Relation:
        """A table, or the declared values of a key, which are public."""
        sizes = {f"(keys {place})": size for place, size in enumerate(self.keys)}
        table = self.facts.find(name)
        if table is None:
            kind, size = require(sizes.get(name), f"It reads an unknown table: {name}")
            return Relation({"key": Value(f"keys {kind}", different=size)}, None, size)
        inside = self.part is None or self.part.table != table
        require(inside, "A table is read outside of its part.")
        self.read |= set() if table.public else {folded(table.name)}
        return sources.scan(table)

    def _with(self, node: Node | None, tables: Tables) -> Tables:
        """WITH ... AS MATERIALIZED (SELECT ROW_NUMBER() OVER () AS n, * FROM table): each row
        of a table of single rows, or of a part of it, gets a number. With several tables, the
        numbers are n * factor + place with place < factor.

        Proof. The numbers differ, so a number stands for a row wherever it is read; it is made
        once, so a row has one number. Which number depends on other rows: so it may only be
        compared with itself, in GROUP BY and PARTITION BY.
        """
        named = dict(tables)
        for cte in [] if node is None else only(node, "expressions").expressions:
            inner = only(
                only(cte, "alias", "this", "materialized").this, "expressions", "from_"
            )
            name = folded(only(cte.args["alias"], "this").name)
            source = only(inner.args["from_"], "this").this
            used = {folded(table.name) for table in source.find_all(exp.Table)}
            hides = name in named or self.facts.find(name) is not None or used & self.numbered
            fine = not hides and cte.args.get("materialized")
            require(fine, "WITH hides a table, is made twice, or is not materialized.")
            self.numbered |= used
            window = require(_NUMBER.match(inner.sql("duckdb")), "WITH makes no row numbers.")
            numbers = (name, int(window[2] or 1), int(window[3] or 0))
            rows = self.relation(source, {})
            named[name] = sources.number_rows(folded(window[4]), numbers, rows)
        return named

    def _source(self, node: exp.Select, tables: Tables) -> Relation:
        """FROM, and at most one join. With a join, columns are named by alias and column."""
        first, joins = node.args.get("from_"), node.args.get("joins") or []
        if first is None or len(joins) > 1:
            raise no_rule(node)
        left = self.relation(only(first, "this").this, tables)
        if not joins:
            return left
        join = only(joins[0], "this", "on", "side")
        a, b = (folded(part.alias) for part in (first.this, join.this))
        require(a and b and a != b, "The sides of a join need different names.")
        right = self.relation(join.this, tables).qualified(b)
        return sources.join_rows(left.qualified(a), right, join)

    def _select(self, node: exp.Select, tables: Tables) -> Relation:
        """A sub-query: filtered, then projected or grouped. One that restricts a table to the
        part may read that table; it reads nothing else."""
        if self.part is not None and self.part.restricts(node):
            return replace(self, part=None)._select(node, tables)
        rows, having = self.filtered(node, tables), conditions(node.args.get("having"))
        distinct = node.args.get("distinct")
        if node.args.get("group") is not None or _aggregates(node):
            require(distinct is None, "DISTINCT stands beside groups.")
            return self._grouped(node, rows, having)
        require(not having, "HAVING stands where there are no groups.")
        relation = self.project(node, rows)
        return relation if distinct is None else _distinct(relation, only(distinct))

    def filtered(self, node: exp.Select, tables: Tables) -> Relation:
        """The rows of FROM for which WHERE holds."""
        tables = self._with(node.args.get("with_"), tables)
        rows = self._source(node, tables)
        sources.check_names(node, rows)
        for condition in conditions(node.args.get("where")):
            listed = condition.args.get("query") is not None
            rows = self.among(rows, condition, tables) if listed else _filter(rows, condition)
        return rows

    def among(self, rows: Relation, condition: Node, tables: Tables) -> Relation:
        """x IN (SELECT ...) as a condition of WHERE: a public list, or the unit among units
        that a sub-query selects.

        Proof. Whether a unit is selected depends on its own rows alone. NULL in the list makes
        the condition NULL instead of false, and both drop the row.
        """
        if not isinstance(condition, exp.In):
            raise no_rule(condition)
        name = rows.name(only(condition, "this", "query").this.unnest())
        other = self.relation(condition.args["query"], tables)
        (key, value), *more = other.columns.items()
        if other.owner is None:
            # Others would be cast, and the cast could fail.
            listed = value.kind == f"keys {rows.columns[name].kind}" and not rows.numbered
            require(listed and not more, "IN looks at another list than keys of its kind.")
            return rows.with_column(name, rows.columns[name].limited_to(value.different))
        own = other.owner.unit is not None and rows.owner == other.owner and not more
        same = own and name in rows.units and key in other.units
        require(same, "IN looks at rows of other units.")
        return rows._replace(known=True)

    def project(self, node: exp.Select, rows: Relation, keys: Names | None = None) -> Relation:
        """The outputs of a SELECT: columns computed from one row, or from one group with these
        keys and then each with the sum over rows that it is; window numbers; and the unit under
        any name."""
        outputs = sources.outputs(node, rows)
        windows = [part for part in outputs.values() if isinstance(part, exp.Window)]
        if any(not isinstance(window.this, exp.DenseRank) for window in windows):
            rows = rows.interchanged()
        scope = sources.scope_of(rows) if keys is None else _groups_of(rows, keys)
        named = [(rows.name(p), n) for n, p in outputs.items() if isinstance(p, exp.Column)]
        columns, units, images = dict[str, Value](), set[str](), dict(reversed(named))
        spread = dict[str, int]()
        for name, part in outputs.items():
            source = sources.unit_in(part, rows)
            if source is not None:
                require(source in scope.rows.columns, "The unit is not a key of the groups.")
                units.add(name)
                value = rows.columns[source].interchanged()
            elif type(part) is exp.Explode:  # others drop or add rows, or a column
                value, spread[name] = spread_places(part, scope)
            elif isinstance(part, exp.Window) and keys is None:
                value = _window(part, rows)
            else:
                value = cut(part, scope) or scope.value(part)
            if keys is not None:
                form = substitute(value, scope.sums)
                value = value._replace(rank=None, form=None if form is None else Form(form))
            rank = value.rank and value.rank.renamed(images)
            columns[name] = value._replace(rank=rank, polynomial=None)
        cast = any(outputs[name].find(exp.TryCast) for name in units)
        # A cast may make a unit NULL in one of its columns.
        require(not cast or len(units) == 1, "A unit is cast, and also kept as it is.")
        require(len(spread) < 2, "Rows are spread over places twice.")
        known, limits = rows.known and not cast, rows.carried(images)
        relation = Relation(columns, rows.owner, rows.rows, frozenset(units), known, limits)
        return relation.spread(*spread.popitem()) if spread else relation

    def _grouped(self, node: exp.Select, rows: Relation, having: list[Node]) -> Relation:
        """GROUP BY the unit and columns, or any GROUP BY of public rows.

        Proof. A group holds rows of one unit, so it is computed from that unit's rows. For each
        value of the columns a unit has one group.
        """
        keys = sources.group_names(node, rows)
        require(rows.owner is None or keys & rows.units, "GROUP BY mixes rows of units.")
        for condition in having:
            _groups_of(rows, keys).boolean(condition)
        return self.project(node, rows.limited(Limit("rows", keys)), keys)


def _groups_of(rows: Relation, keys: Names) -> RowScope:
    """A scope in which only keys and aggregates have values."""
    columns = {name: rows.columns[name].interchanged() for name in keys}
    scope = sources.scope_of(rows._replace(columns=columns))
    return scope._replace(inner=sources.scope_of(rows))


def _filter(rows: Relation, condition: Node) -> Relation:
    """One condition. It may drop rows without a unit, or limit how many different values a
    column has, or how many rows or groups a unit has.

    Proof. A window's number that is at most k is one of 1 to k. ROW_NUMBER gives the rows of
    one unit and value of S different numbers, so at most k are left. DENSE_RANK over an order
    that contains S gives different values of S different numbers.
    """
    unit = match(condition, "NOT x IS NULL").get("x")
    if isinstance(unit, exp.Column) and rows.name(unit) in rows.units:
        return rows._replace(known=True)
    scope = sources.scope_of(rows)
    scope.boolean(condition)
    for node, value in refine(scope, condition).refined.items():
        if isinstance(node, exp.Column):
            name = rows.name(node)
            rows = rows.with_column(name, rows.columns[name].limited_to(value.most))
            if value.rank is not None:
                rows = rows.limited(value.rank._replace(most=max(0, int(value.high))))
    return rows


def _window(node: exp.Window, rows: Relation) -> Value:
    """A window over the rows of one unit: ROW_NUMBER, DENSE_RANK or those of `unit_windows`.

    Proof. The partition contains the unit, so a value depends on the unit's rows alone. It
    does not depend on the order in which the engine reads them: DENSE_RANK gives equal
    rows equal numbers, and ROW_NUMBER is used only where rows that tie are equal, or where
    no two rows of a unit can tie. Rows that are equal may still differ in the sign of a
    zero, so from here on their values are determined only up to that.
    """
    parts = node.args.get("partition_by") or []
    only(node, "this", "partition_by", "order", "spec", "over")
    by = frozenset(map(rows.name, parts))
    order, hashed = sources.order_of(node.args.get("order"), rows)
    apart = rows.owner is not None and by & rows.units and rows.known
    require(apart, "A window does not keep the rows of each known unit apart.")
    numbered = rows.numbered and (order | hashed) & rows.units
    require(not numbered, "A window is ordered by row numbers.")
    number, plain = integer(1, max(1, rows.rows), 64), node.args.get("spec") is None
    if isinstance(node.this, exp.DenseRank) and by <= rows.units and plain:
        return number._replace(rank=Limit("groups", order - rows.units))
    ordered = by | order | rows.units
    once = [limit.columns for limit in rows.limits if (limit.kind, limit.most) == ("rows", 1)]
    total = ordered >= set(rows.columns) or any(columns <= ordered for columns in once)
    if not isinstance(node.this, exp.RowNumber) or not plain:
        require(not hashed, "A window is ordered by a hash.")
        return window_value(node, _groups_of(rows, by), total=total)
    require(total, "The order of a window leaves ties between different rows.")
    return number._replace(rank=Limit("rows", by - rows.units))


def _distinct(rows: Relation, _: Node) -> Relation:
    """SELECT DISTINCT with the unit among the columns: one row for each unit and values."""
    require(rows.owner is None or rows.units, "DISTINCT mixes rows of units.")
    return rows.interchanged().limited(Limit("rows", frozenset(rows.columns) - rows.units))


def _aggregates(node: exp.Select) -> bool:
    """Whether an output is an aggregate, and no window."""
    calls = (call for output in node.expressions for call in output.find_all(exp.AggFunc))
    return any(not isinstance(call.parent, exp.Window) for call in calls)
