"""SQL over released rows, written so that it runs on many draws of the noise at once.

Every released table gets two more columns: the number of the draw, and the number of the row.
The rewritten SQL keeps the draws apart (in joins, groups and windows) and carries the rows'
numbers along, so that each row of the answer is found again in every draw. What cannot be
rewritten has no margins; nothing else depends on it, because draw 0 must repeat the answer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp
from sqlglot.optimizer.qualify import qualify

from deniable.query.outer.float_sizes import SIZE, count_operations, hand_on_sizes
from deniable.query.outer.noise_dependence import DependenceReader, Kind, NoiseDependence
from deniable.query.outer.outer_sql import write_total
from deniable.query.outer.repeated_column import RepeatedColumn, add_size, drawn_column
from deniable.query.outer.row_formula import FormulaReader
from deniable.query.outer.scaled_margin import scale_margin
from deniable.query.outer.select_parts import (
    is_grouped,
    number_values,
    own_nodes,
    remove_choice,
    row_conditions,
    write_out_windows,
)

DRAW, ROW = "_draw", "_row"
Tables = Mapping[str, Mapping[str, NoiseDependence]]


class NotRepeatable(Exception):
    """This SQL cannot be rewritten, so it has no margins."""


@dataclass(frozen=True, slots=True)
class RepeatedSql:
    """The rewritten SQL. Its first columns are those of the answer."""

    sql: str
    columns: tuple[RepeatedColumn, ...]
    chosen: bool  # whether noise decides which rows are in the answer
    source: str | None = None  # the released table whose rows its rows are, if there is one

    @property
    def needs_draws(self) -> bool:
        """Whether the SQL must run on every draw: the formulas do not say everything."""
        return any(len(column.formulas) < len(column.values) for column in self.columns)


@dataclass(frozen=True, slots=True)
class _Block:
    columns: dict[str, NoiseDependence]
    shaky: bool  # whether noise decides which rows it has
    source: str | None = None  # the released table whose rows its rows are
    unchanged: Mapping[str, str] = field(default_factory=dict)  # the table's columns, by name
    read: Mapping[str, str] = field(
        default_factory=dict
    )  # the same, of the block that it reads
    public: bool = False  # whether it is a list of constants, without draws


def repeat_sql(tree: exp.Expr, tables: Tables) -> RepeatedSql:
    """The SQL for many draws; `tables` are the released ones, with their columns.

    >>> import sqlglot
    >>> n = NoiseDependence(Kind.AFFINE, frozenset({("t", "n")}))
    >>> text = sqlglot.parse_one("SELECT k, n * 2 AS m FROM t", dialect="duckdb")
    >>> repeated = repeat_sql(text, {"t": {"k": NoiseDependence(), "n": n}})
    >>> [column.dependence.kind.name for column in repeated.columns]
    ['PUBLIC', 'AFFINE']
    """
    if any(_is_ours(name) for columns in tables.values() for name in columns):
        raise NotRepeatable
    schema: dict[str, object] = {
        name: dict.fromkeys(columns, "DOUBLE") for name, columns in tables.items()
    }
    if not isinstance(tree, exp.Select):
        inner = tree.copy()
        clause = inner.args.get("with_")
        inner.set("with_", None)
        alias = exp.TableAlias(this=exp.to_identifier("whole"))
        tree = exp.select("*").from_(exp.Subquery(this=inner, alias=alias))
        tree.set("with_", clause)
    try:
        tree = qualify(
            write_out_windows(tree.copy()),
            schema=schema,
            dialect="duckdb",
            validate_qualify_columns=False,
            identify=True,
        )
    except Exception:  # sqlglot has errors of its own, and others where it is wrong
        raise NotRepeatable from None
    if not isinstance(tree, exp.Select):
        raise NotRepeatable
    return _Repeater(tables).top(tree)


class _Repeater:
    def __init__(self, tables: Tables) -> None:
        self.named = {
            name: _Block(dict(columns), False, name, {column: column for column in columns})
            for name, columns in tables.items()
        }
        self.released = set(self.named)
        self.count = 0

    def top(self, tree: exp.Select) -> RepeatedSql:
        clause = tree.args.get("with_")
        for cte in clause.expressions if clause else ():
            if cte.args["alias"].args.get("columns"):
                raise NotRepeatable
            self.named[cte.alias] = self.query(cte.this)
        outputs, chosen = list(tree.expressions), list[bool]()
        written = count_operations(tree), tree.find(exp.Sum, exp.Avg) is not None
        block, reader, first = self.select(tree, chosen=chosen)
        formulas = FormulaReader(tree, reader, _row_sources(tree, block, first))
        columns, drawn, grouped = list[RepeatedColumn](), list[exp.Expr](), is_grouped(tree)
        for place, output in enumerate(outputs):
            dependence, own = block.columns[output.alias_or_name], output.unalias()
            margin = None if grouped else scale_margin(own, reader, chosen=any(chosen))
            if margin is None:
                column = drawn_column(place, own, dependence, formulas, drawn)
            else:
                name = f"_margin_{place}"
                tree.append("expressions", _named(margin[0], name))
                column = RepeatedColumn(dependence, (), margin[1], name)
            columns.append(add_size(tree, place, own, column, reader, written))
        outer = RepeatedSql("", tuple(columns), any(chosen), block.source)
        for value in [*(drawn if outer.needs_draws else ()), _named(_place(first, DRAW), DRAW)]:
            tree.append("expressions", value)
        return replace(outer, sql=write_total(tree, copy=False))

    def query(self, node: exp.Expr, *, side: int | None = None) -> _Block:
        """Rewrites a query inside of the statement."""
        while isinstance(node, exp.Subquery):
            node = node.this
        if isinstance(node, exp.Union) and not node.args.get("distinct"):
            left, right = (self.query(node.args[k], side=self._next()) for k in _SIDES)
            if _extras(node, *_SIDES, "distinct"):
                raise NotRepeatable
            pairs = zip(left.columns.items(), right.columns.values(), strict=True)
            joined = {n: _either(a, b) for (n, a), b in pairs}
            return _Block(joined, left.shaky or right.shaky)
        if not isinstance(node, exp.Select) or _extras(node, *_PARTS):
            raise NotRepeatable
        node.set("order", None)
        block, _, first = self.select(node, side=side)
        node.append("expressions", _named(_place(first, DRAW), DRAW))
        return block

    def select(
        self,
        node: exp.Select,
        *,
        outer: tuple[str, DependenceReader] | None = None,
        side: int | None = None,
        chosen: list[bool] | None = None,
    ) -> tuple[_Block, DependenceReader, str]:
        """Rewrites one SELECT; returns it, a reader of its expressions and its first table.

        With `chosen` it is the last one: what only chooses rows by noise is removed.
        """
        sources = self._sources(node)
        first = next(iter(sources))
        columns = {**({} if outer is None else outer[1].columns), **_columns_of(sources)}
        reader = DependenceReader(
            columns, lambda sub: self._scalar(sub, first, reader), shaky=False
        )
        reader.shaky = any(block.shaky for block in sources.values())
        if chosen is not None:
            self._leave_out(node, reader)
            chosen += remove_choice(node, reader)
        conditions = row_conditions(node)
        group = node.args.get("group")
        grouped, keys = is_grouped(node), self._keys(node, group)
        self._keep_draws_apart(node, sources, first)
        noisy = [reader.read(part).kind for part in (*conditions, *keys)]
        reader.shaky = reader.shaky or any(noisy)
        read = self._outputs(node, reader, unchanged=not grouped and side is None)
        if chosen is None:
            read = hand_on_sizes(node, read, reader, possible=outer is None and side is None)
        if outer is not None:
            same = exp.EQ(this=_place(first, DRAW), expression=_place(outer[0], DRAW))
            node.where(same, copy=False)
            return _Block(read, reader.shaky), reader, first
        only = sources[first] if len(sources) == 1 else None
        kept = None if grouped or side is not None or not (only and only.source) else only
        row = _place(first, ROW) if kept else _row_number(sources, keys, grouped, side)
        node.append("expressions", _named(row, ROW))
        if grouped:
            node.set("group", exp.Group(expressions=[*keys, _place(first, DRAW)]))
        last = chosen is not None
        block = _Block(read if last else self._with_margins(node, read), reader.shaky)
        block = block if kept is None else _with_same_rows(block, node, kept)
        return block, reader, first

    def _leave_out(self, node: exp.Select, reader: DependenceReader) -> None:
        """Puts NULL in the place of outputs that cannot be rewritten: only they have no margin.

        Rows that are chosen by such an output count as chosen by noise.
        """
        unread = list[exp.Expr]()
        for output in node.expressions:
            try:
                reader.read(output.unalias())
            except NotRepeatable:
                unread.append(output.unalias())
        grouped = is_grouped(node) if unread else None
        for part in unread:
            reader.unread.append(exp.Null())
            part.replace(reader.unread[-1])
        if unread and grouped != is_grouped(node):
            raise NotRepeatable

    def _outputs(
        self, node: exp.Select, reader: DependenceReader, *, unchanged: bool
    ) -> dict[str, NoiseDependence]:
        """How each output depends on noise; `unchanged` if columns may keep their margins."""
        columns: dict[str, NoiseDependence] = {}
        for output in node.expressions:
            if output.alias_or_name in columns or _is_ours(output.alias_or_name):
                raise NotRepeatable  # two outputs of one name cannot be told apart
            own = reader.read(output.unalias())
            plain = unchanged and isinstance(output.unalias(), exp.Column)
            own = replace(own, own_margin=own.own_margin if plain else None, size_column=None)
            columns[output.alias_or_name] = own.at_least(Kind.JUMPS) if reader.shaky else own
        return columns

    def _with_margins(
        self, node: exp.Select, columns: dict[str, NoiseDependence]
    ) -> dict[str, NoiseDependence]:
        """Hands the margins of unchanged numbers on, beside the numbers."""
        new_columns = dict(columns)
        for output in list(node.expressions):
            name = output.alias_or_name
            own = columns[name].own_margin if name in columns else None
            if own is not None:
                passed = f"{name}{MARGIN}"
                node.append("expressions", _named(_place(output.unalias().table, own), passed))
                new_columns[name] = replace(columns[name], own_margin=passed)
        return new_columns

    def _sources(self, node: exp.Select) -> dict[str, _Block]:
        source = node.args.get("from_")
        if source is None or node.args.get("distinct"):
            raise NotRepeatable
        sources: dict[str, _Block] = {}
        for item in (source.this, *(join.this for join in node.args.get("joins") or ())):
            if isinstance(item, exp.Table) and not _extras(item, "this", "alias"):
                block = self.named.get(item.name)
                if item.name in self.released:
                    alias = item.args.get("alias") or exp.TableAlias(this=item.this.copy())
                    item.set("this", exp.to_identifier(f"{item.name}{DRAWN}", quoted=True))
                    item.set("alias", alias)
            elif isinstance(item, exp.Subquery) and not _extras(item, "this", "alias"):
                block = self.query(item.this)
            elif isinstance(item, exp.Values) and sources:
                sources[item.alias_or_name] = _Block(number_values(item), False, public=True)
                continue
            else:
                block = None
            if block is None or item.args["alias"].args.get("columns"):
                raise NotRepeatable
            sources[item.alias_or_name] = block
        return sources

    def _keep_draws_apart(
        self, node: exp.Select, sources: Mapping[str, _Block], first: str
    ) -> None:
        for join in node.args.get("joins") or ():
            if (join.side or "") not in ("", "LEFT") or (join.kind or "") not in _JOINS:
                raise NotRepeatable
            if sources[join.this.alias_or_name].public:
                continue  # its rows are the same in all draws
            same = exp.EQ(
                this=_place(join.this.alias_or_name, DRAW), expression=_place(first, DRAW)
            )
            on = join.args.get("on")
            join.set("on", same if on is None else exp.and_(on, same))
            join.set("kind", None)
        for part in [*node.expressions, node.args.get("qualify"), node.args.get("having")]:
            for window in [] if part is None else list(own_nodes(part, exp.Window)):
                window.append("partition_by", _place(first, DRAW))

    def _keys(self, node: exp.Select, group: exp.Expr | None) -> list[exp.Expr]:
        if group is None:
            return []
        if group.args.get("all"):
            plain = [output.unalias() for output in node.expressions]
            return [e.copy() for e in plain if not list(own_nodes(e, exp.AggFunc, exp.Window))]
        if _extras(group, "expressions"):
            raise NotRepeatable
        return [key.copy() for key in group.expressions]

    def _scalar(self, node: exp.Expr, first: str, reader: DependenceReader) -> NoiseDependence:
        """A sub-query inside an expression: in each draw it reads that draw's rows."""
        select = node
        while isinstance(select, exp.Subquery):
            select = select.this
        if not isinstance(select, exp.Select) or _extras(select, *_PARTS):
            raise NotRepeatable
        if select.meta.get("dependence") is None:
            self._rename(select)
            block, own, _ = self.select(select, outer=(first, reader))
            dependence = next(iter(block.columns.values()))
            jumps = NoiseDependence(Kind.JUMPS, dependence.sources)  # even if it is a key
            select.meta["dependence"] = jumps if own.shaky else dependence
        dependence = select.meta["dependence"]
        assert isinstance(dependence, NoiseDependence)
        return replace(dependence, own_margin=None)

    def _next(self) -> int:
        self.count += 1
        return self.count

    def _rename(self, select: exp.Select) -> None:
        """New names for the tables of a sub-query: the outer ones may have the same."""
        self._next()
        joins = select.args.get("joins") or ()
        items = [select.args["from_"].this, *(j.this for j in joins)]
        names = {item.alias_or_name: f"{item.alias_or_name}__{self.count}" for item in items}
        for column in select.find_all(exp.Column):
            if column.table in names:
                column.set("table", exp.to_identifier(names[column.table], quoted=True))
        for item in items:
            name = exp.to_identifier(names[item.alias_or_name], quoted=True)
            item.set("alias", exp.TableAlias(this=name))


MARGIN, DRAWN = "__margin", "__drawn"  # what names of columns and tables end with
_JOINS = ("", "INNER", "CROSS", "OUTER")
_SIDES = ("this", "expression")
_PARTS = ("expressions", "from_", "joins", "where", "group", "having", "qualify", "order")


def _is_ours(name: str) -> bool:
    """Whether a column is called like one that is added here."""
    return name.lower() in (DRAW, ROW) or name.lower().endswith((MARGIN, SIZE))


def _columns_of(sources: Mapping[str, _Block]) -> dict[tuple[str, str], NoiseDependence]:
    """The columns that a SELECT may read, with that of draws, by table and name."""
    return {
        (alias, name): dependence
        for alias, block in sources.items()
        for name, dependence in ((DRAW, NoiseDependence()), *block.columns.items())
    }


def _with_same_rows(block: _Block, node: exp.Select, below: _Block) -> _Block:
    """The block of a SELECT whose rows are rows of the block below."""
    plain = {output.alias_or_name: output.unalias() for output in node.expressions}
    unchanged = {
        name: below.unchanged[inner.name]
        for name, inner in plain.items()
        if isinstance(inner, exp.Column) and inner.name in below.unchanged
    }
    return replace(block, source=below.source, unchanged=unchanged, read=below.unchanged)


def _row_number(
    sources: Iterable[str], keys: list[exp.Expr], grouped: bool, side: int | None
) -> exp.Expr:
    """The number of a row: of its group, or of the rows that it was joined from."""
    parts = keys if grouped else [_place(alias, ROW) for alias in sources]
    parts = [*parts, exp.Literal.number(side or 0)]
    return exp.Anonymous(this="HASH", expressions=[part.copy() for part in parts])


def _row_sources(
    tree: exp.Select, block: _Block, first: str
) -> Mapping[tuple[str, str], str] | None:
    """The released column behind each column that the last SELECT reads, if its rows are rows
    of one released table and every window sees all of them."""
    if block.source is None or tree.args.get("qualify"):
        return None
    return {(first, name): column for name, column in block.read.items()}


def _either(a: NoiseDependence, b: NoiseDependence) -> NoiseDependence:
    rounding = max(a.rounding, b.rounding)
    sources, gaps = a.sources | b.sources, max(a.gaps, b.gaps)
    return NoiseDependence(max(a.kind, b.kind), sources, rounding=rounding, gaps=gaps)


def _place(table: str, name: str) -> exp.Column:
    return exp.column(name, table=table, quoted=True)


def _named(node: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(node, name, quoted=True)


def _extras(node: exp.Expr, *known: str) -> bool:
    return any(value and name not in known for name, value in node.args.items())
