"""ROLLUP, CUBE and GROUPING SETS: the finest groups, and the levels that are made of them.

Counts and sums are asked for once, in the finest groups. Every level adds them up, so all
levels fit together, and one person's limits are the same in all of them. Averages are sums over
counts. Other aggregates cannot be added up: then each level is a question of its own, and is
paid for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.outer.window_split import (
    has_only,
    look_up_keys,
    name_part,
    named_part,
    own_aggregates,
    replace_parts,
)

_SEVERAL = (exp.Rollup, exp.Cube, exp.GroupingSets)
_MOST_LEVELS = 64
_SOURCE = ("from_", "joins", "where")
_KNOWN = (
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
)


@dataclass(frozen=True, slots=True)
class LevelSplit:
    """The question for the finest groups (None: every level is one), the SELECT of each level,
    and what follows after all of them."""

    finest: exp.Select | None
    levels: tuple[exp.Select, ...]
    order: exp.Expr | None
    limit: exp.Expr | None
    offset: exp.Expr | None
    sets: tuple[tuple[int, ...], ...] = ()  # the keys of each level, by their places


def has_levels(select: exp.Select) -> bool:
    """Whether a SELECT groups by several sets of keys."""
    group = select.args.get("group")
    if group is None:
        return False
    extras = any(group.args.get(name) for name in ("rollup", "cube", "grouping_sets"))
    return extras or any(isinstance(node, _SEVERAL) for node in group.expressions)


def split_levels(select: exp.Select) -> LevelSplit:
    """The levels of a SELECT that has them.

    >>> import sqlglot
    >>> text = "SELECT w, COUNT(*) AS n FROM t GROUP BY ROLLUP (w)"
    >>> parts = split_levels(sqlglot.parse_one(text, dialect="duckdb"))
    >>> parts.finest.sql()
    'SELECT w AS w, COUNT(*) AS part_0 FROM t GROUP BY w'
    >>> [level.sql() for level in parts.levels]
    ['SELECT w AS w, SUM(part_0) AS n GROUP BY w', 'SELECT NULL AS w, SUM(part_0) AS n']
    """
    select = select.copy()
    if not has_only(select, *_KNOWN) or select.find(exp.Window, exp.Fetch):
        raise InvalidQuery(
            "DISTINCT, QUALIFY, windows and FETCH beside ROLLUP, CUBE or GROUPING SETS are not "
            "supported. Put the levels into a sub-query: SELECT ... FROM (SELECT ... GROUP BY "
            "ROLLUP (a, b))."
        )
    sets = _sets(select)
    keys = list(dict.fromkeys(chain.from_iterable(sets)))
    sorted_sets = sorted(sets, key=len, reverse=True)
    aggregates = [a for a in own_aggregates(select) if not isinstance(a, exp.Grouping)]
    order, limit, offset = (select.args.get(name) for name in ("order", "limit", "offset"))
    after = _order_by_outputs(select, order), limit, offset
    if not all(_adds_up(aggregate) for aggregate in aggregates) or not aggregates:
        levels = tuple(_own_question(select, own, keys) for own in sorted_sets)
        return LevelSplit(None, levels, *after)
    finest, parts, names = _finest(select, keys, aggregates)
    levels = tuple(_level(select, own, keys, names, parts) for own in sorted_sets)
    places = {tuple(sorted(keys.index(key) for key in own)) for own in sets}
    return LevelSplit(finest, levels, *after, sets=tuple(sorted(places)))


def _sets(select: exp.Select) -> list[tuple[exp.Expr, ...]]:
    """Every set of keys; parts of GROUP BY that stand side by side are combined."""
    group = select.args["group"]
    plain = [node for node in group.expressions if not isinstance(node, _SEVERAL)]
    parts: list[list[list[exp.Expr]]] = []
    if group.args.get("rollup") or group.args.get("cube"):  # GROUP BY a, b WITH ROLLUP
        kind = exp.Rollup if group.args.get("rollup") else exp.Cube
        parts.append(_expand(kind(expressions=plain)))
    else:
        parts += [_expand(node) for node in group.expressions]
    count = 1
    for part in parts:
        count *= len(part)
    if count > _MOST_LEVELS:
        raise InvalidQuery(
            f"GROUP BY asks for {count:,} sets of keys. At most {_MOST_LEVELS} are supported."
        )
    listed = list(dict.fromkeys(key for part in parts for own in part for key in own))
    looked_up = zip(listed, look_up_keys(select, listed), strict=True)
    meanings = {key: meant for key, (_, meant) in looked_up}
    return [
        tuple(dict.fromkeys(meanings[key] for key in chain.from_iterable(chosen)))
        for chosen in product(*parts)
    ]


def _expand(node: exp.Expr) -> list[list[exp.Expr]]:
    members = [_members(inner) for inner in node.expressions]
    if isinstance(node, exp.Rollup):
        counts = range(len(members), -1, -1)
        return [list(chain.from_iterable(members[:count])) for count in counts]
    if isinstance(node, exp.Cube):
        sizes = range(len(members), -1, -1)
        chosen = chain.from_iterable(combinations(members, size) for size in sizes)
        return [list(chain.from_iterable(own)) for own in chosen]
    if isinstance(node, exp.GroupingSets):
        return [
            s
            for inner in node.expressions
            for s in (_expand(inner) if isinstance(inner, _SEVERAL) else [_members(inner)])
        ]
    return [[node]]


def _members(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    return [node.this] if isinstance(node, exp.Paren) else [node]


def _adds_up(aggregate: exp.Expr) -> bool:
    inner = aggregate.this if isinstance(aggregate, exp.Filter) else aggregate
    return isinstance(inner, exp.Count | exp.Sum | exp.Avg) and not inner.find(exp.Distinct)


def _finest(
    select: exp.Select, keys: Sequence[exp.Expr], aggregates: Sequence[exp.Expr]
) -> tuple[exp.Select, dict[exp.Expr, list[str]], dict[exp.Expr, str]]:
    """The question for the finest groups, and the names of its keys and its parts."""
    names: dict[exp.Expr, str] = {}
    aliases = {e.unalias(): e.alias for e in select.expressions if e.alias}
    for number, key in enumerate(keys):
        plain = key.name if isinstance(key, exp.Column) else f"key_{number}"
        name_part(key, aliases.get(key) or plain, names)
    part_names: dict[exp.Expr, str] = {}
    parts: dict[exp.Expr, list[str]] = {}
    for aggregate in aggregates:
        own_names = [
            part_names.setdefault(part, f"part_{len(part_names)}")
            for part in _additive(aggregate)
        ]
        parts[aggregate] = own_names
    outputs = [named_part(key.copy(), name) for key, name in names.items()]
    outputs += [named_part(part.copy(), name) for part, name in part_names.items()]
    finest = exp.Select(**{name: select.args.get(name) for name in _SOURCE})
    finest.set("expressions", outputs)
    if keys:
        finest.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return finest, parts, names


def _additive(aggregate: exp.Expr) -> list[exp.Expr]:
    """What is asked for an aggregate: itself; for an average the sum and the count."""
    inner = aggregate.this if isinstance(aggregate, exp.Filter) else aggregate
    if not isinstance(inner, exp.Avg):
        return [aggregate]
    parts = [exp.Sum(this=inner.this.copy()), exp.Count(this=inner.this.copy())]
    if not isinstance(aggregate, exp.Filter):
        return list(parts)
    return [exp.Filter(this=part, expression=aggregate.expression.copy()) for part in parts]


def _level(
    select: exp.Select,
    own: Sequence[exp.Expr],
    keys: Sequence[exp.Expr],
    names: dict[exp.Expr, str],
    parts: dict[exp.Expr, list[str]],
) -> exp.Select:
    """One level over the finest groups."""
    replacements: dict[exp.Expr, exp.Expr] = {}
    for aggregate, columns in parts.items():
        sums: list[exp.Expr] = [exp.Sum(this=exp.column(name)) for name in columns]
        if len(sums) == 2:
            below = exp.Nullif(this=sums[1], expression=exp.Literal.number(0))
            sums = [exp.Paren(this=exp.Div(this=sums[0], expression=below))]
        replacements[aggregate] = sums[0]
    replacements |= _key_values(select, own, keys, names)
    level = exp.Select(
        expressions=[_output(e, replacements, names) for e in select.expressions]
    )
    if own:
        level.set("group", exp.Group(expressions=[exp.column(names[key]) for key in own]))
    if select.args.get("having"):
        level.set(
            "having", exp.Having(this=replace_parts(select.args["having"].this, replacements))
        )
    return level


def _key_values(
    select: exp.Select,
    own: Sequence[exp.Expr],
    keys: Sequence[exp.Expr],
    names: dict[exp.Expr, str] | None,
) -> dict[exp.Expr, exp.Expr]:
    """The keys of a level: NULL for those of other levels; and what GROUPING says of them."""
    replacements: dict[exp.Expr, exp.Expr] = {}
    for key in keys:
        if key not in own:
            replacements[key] = exp.Null()
        elif names is not None:
            replacements[key] = exp.column(names[key])
    for node in select.find_all(exp.Grouping):
        bits = 0
        for argument in node.expressions:
            bits = 2 * bits + (argument not in own)
        replacements[node] = exp.Literal.number(bits)
    return replacements


def _own_question(
    select: exp.Select, own: Sequence[exp.Expr], keys: Sequence[exp.Expr]
) -> exp.Select:
    """One level as a question of its own."""
    replacements = _key_values(select, own, keys, None)
    level = select.copy()
    level.set("expressions", [_output(e, replacements, None) for e in select.expressions])
    level.set("group", exp.Group(expressions=[k.copy() for k in own]) if own else None)
    if select.args.get("having"):
        level.set(
            "having", exp.Having(this=replace_parts(select.args["having"].this, replacements))
        )
    for name in ("order", "limit", "offset"):
        level.set(name, None)
    return level


def _output(
    expression: exp.Expr,
    replacements: dict[exp.Expr, exp.Expr],
    names: dict[exp.Expr, str] | None,
) -> exp.Expr:
    return named_part(
        replace_parts(expression.unalias(), replacements), output_name(expression)
    )


def output_name(expression: exp.Expr) -> str:
    """The name of an output of a level."""
    inner = expression.unalias()
    default = inner.name if isinstance(inner, exp.Column) else inner.sql(dialect="duckdb")
    return expression.alias or default


def _order_by_outputs(select: exp.Select, order: exp.Expr | None) -> exp.Expr | None:
    """ORDER BY after all levels: outputs only, by name or position."""
    if order is None:
        return None
    outputs = {e.unalias(): output_name(e) for e in select.expressions}
    known = {name.lower() for name in outputs.values()}
    clause = order.copy()
    for node in clause.expressions:
        by = node.this
        if isinstance(by, exp.Column) and not by.table and by.name.lower() in known:
            continue  # an alias beats a column of the same name
        if by in outputs:
            node.set("this", exp.column(exp.to_identifier(outputs[by])))
        elif not (isinstance(by, exp.Literal) or by.name.lower() in known):
            raise InvalidQuery(
                f"ORDER BY {by.sql(dialect='duckdb')} beside ROLLUP, CUBE or GROUPING SETS "
                "must be one of the selected expressions."
            )
    return clause
