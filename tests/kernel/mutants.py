"""Mutants of plans: one change of a statement's tree, or of what the plan declares.

Most changes break a promise: a clip or a limit is gone, units are mixed, a value can make the
engine fail, or the declared numbers are too small.
"""

from dataclasses import replace
from fractions import Fraction

import sqlglot
from sqlglot import exp

from deniable.mechanisms import Gaussian, Laplace, PermuteAndFlip, Thresholding


def _clips(node):
    return (
        isinstance(node, exp.Case) and len(node.args["ifs"]) == 2 and node.args.get("default")
    )


def _cuts(node):
    return isinstance(node, exp.Case) and node.find(exp.IntDiv) is not None


def _widened(node):
    for part in list(node.args["ifs"][0].find_all(exp.Literal)):
        if not part.is_string:
            part.replace(exp.Literal.number(str(int(float(part.this) * 3) + 7)))
    return node


def _lower_gone(node):
    return exp.Case(ifs=node.args["ifs"][:1], default=node.args["default"])


def _more_cut(node):
    for part in list(node.find_all(exp.GT, exp.Mul)):
        if isinstance(part.expression, exp.Literal):
            part.set("expression", exp.Literal.number(int(part.expression.this) + 2))
    return node


def _names(node, *names):
    return isinstance(node, exp.Column) and node.name in names


def _without_unit(parts):
    return [part for part in parts if not _names(part, "u")]


def _window(change):
    def changed(node):
        change(node)
        return node

    return changed


def _argument(node, to):
    node.set("this", to(node.this))
    return node


def _sql(text):
    return sqlglot.parse_one(text, dialect="duckdb")


def _values(node):
    """What a sum adds up, without DISTINCT."""
    return node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this


def _summed(node, text):
    """The sum of something else, DISTINCT if it was."""
    once = "DISTINCT " if isinstance(node.this, exp.Distinct) else ""
    return _sql(f"SUM({once}{text.format(_values(node).sql('duckdb'))})")


def _united(node):
    """A sub-query together with itself."""
    inner = node.this.copy()
    return exp.Subquery(
        this=exp.Union(this=inner, expression=inner.copy(), distinct=False),
        alias=node.args["alias"].copy(),
    )


def _is(*kinds):
    return lambda node: isinstance(node, kinds)


def _ranked(node):
    return isinstance(node, exp.Window) and node.args.get("partition_by")


def _limit(node):
    return isinstance(node, exp.LTE) and _names(node.this, "place", "group_place")


def _joined_on(node):
    return isinstance(node, exp.EQ) and node.find(exp.Column).name == "u"


def _unit_made(node):
    own = (
        isinstance(node, exp.Alias) and node.alias == "u" and isinstance(node.this, exp.Column)
    )
    return own and node.this.this.args.get("quoted")


def _row_value(node):
    return (
        isinstance(node, exp.Alias)
        and node.alias[:1] in ("y", "c")
        and node.alias[1:].isdigit()
    )


def _select(node):
    return isinstance(node, exp.Select) and isinstance(node.parent, exp.Subquery)


# name: (which nodes, what the node becomes)
TREE_CHANGES = {
    "clip removed": (_clips, lambda n: n.args["default"]),
    "clip widened": (_clips, _widened),
    "lower clip removed": (_clips, _lower_gone),
    "share removed": (_cuts, lambda n: n.args["default"]),
    "share of more rows": (_cuts, _more_cut),
    "share by another number": (
        _is(exp.IntDiv),
        lambda n: exp.IntDiv(this=n.this, expression=_sql("2")),
    ),
    "limit dropped": (_limit, lambda n: exp.true()),
    "limit raised": (_limit, lambda n: exp.LTE(this=n.this, expression=_sql("9"))),
    "join on nothing": (_joined_on, lambda n: exp.true()),
    "join on inequality": (_joined_on, lambda n: exp.LTE(this=n.this, expression=n.expression)),
    "window over all units": (
        _ranked,
        _window(lambda n: n.set("partition_by", _without_unit(n.args["partition_by"]))),
    ),
    "window over the unit alone": (
        _ranked,
        _window(lambda n: n.set("partition_by", [exp.column("u")])),
    ),
    "window without an order": (_ranked, _window(lambda n: n.set("order", None))),
    "window in random order": (
        _ranked,
        _window(lambda n: n.set("order", exp.Order(expressions=[_sql("RANDOM()")]))),
    ),
    "rank with ties": (_is(exp.RowNumber), lambda n: _sql("RANK()")),
    "group by fewer": (
        _is(exp.Group),
        _window(lambda n: n.set("expressions", _without_unit(n.expressions) or [_sql("'x'")])),
    ),
    "group by the first only": (
        _is(exp.Group),
        _window(lambda n: n.set("expressions", n.expressions[:1])),
    ),
    "condition dropped": (_is(exp.Where), lambda n: None),
    "unit merged": (
        _unit_made,
        lambda n: _argument(n, lambda u: _sql(f"TRY_CAST({u.sql('duckdb')} AS BOOLEAN)")),
    ),
    "unit cut": (
        _unit_made,
        lambda n: _argument(n, lambda u: _sql(f"LEFT(TRY_CAST({u.sql('duckdb')} AS TEXT), 1)")),
    ),
    "cast that fails": (_is(exp.TryCast), lambda n: exp.Cast(this=n.this, to=n.args["to"])),
    "division by zero": (_is(exp.Nullif), lambda n: n.this),
    "value of other rows": (
        _row_value,
        lambda n: _argument(n, lambda v: _sql(f"MAX({v.sql('duckdb')}) OVER ()")),
    ),
    "value in random": (
        _row_value,
        lambda n: _argument(
            n, lambda v: _sql(f"CASE WHEN RANDOM() < 0.5 THEN {v.sql('duckdb')} END")
        ),
    ),
    "sum doubled": (_is(exp.Sum), lambda n: _summed(n, "{0} * 2")),
    "sum of doubles": (_is(exp.Sum), lambda n: _summed(n, "TRY_CAST({0} AS DOUBLE)")),
    "sum times the rows": (_is(exp.Sum), lambda n: _sql(f"COUNT(*) * {n.sql('duckdb')}")),
    "sum becomes the largest": (
        _is(exp.Sum),
        lambda n: _sql(f"MAX({_values(n).sql('duckdb')}) * 3"),
    ),
    "count doubled": (_is(exp.Count), lambda n: _sql(f"({n.sql('duckdb')} * 2)")),
    "any value": (_is(exp.Max, exp.Min), lambda n: _sql(f"ANY_VALUE({n.this.sql('duckdb')})")),
    "distinct dropped": (
        _is(exp.Distinct),
        lambda n: n.expressions[0] if n.expressions else None,
    ),
    "literal larger": (
        lambda n: isinstance(n, exp.Literal) and not n.is_string and n.this.isdigit(),
        lambda n: exp.Literal.number(int(n.this) * 3 + 1),
    ),
    "rows twice": (lambda n: isinstance(n, exp.Subquery) and _select(n.this), _united),
    "outer join turned": (
        lambda n: isinstance(n, exp.Join) and n.side == "LEFT",
        _window(lambda n: n.set("side", "RIGHT")),
    ),
    "inner join made full": (
        lambda n: isinstance(n, exp.Join) and not n.side,
        _window(lambda n: n.set("side", "FULL")),
    ),
    "first rows only": (_select, lambda n: n.limit(3)),
    "numbered again": (_is(exp.CTE), _window(lambda n: n.set("materialized", None))),
    "default dropped": (
        lambda n: isinstance(n, exp.Coalesce) and not isinstance(n.this, exp.Sum),
        lambda n: n.this,
    ),
    "product for a sum": (
        _is(exp.Add),
        lambda n: exp.Mul(this=n.this, expression=n.expression),
    ),
    "sum for a difference": (
        _is(exp.Sub),
        lambda n: exp.Add(this=n.this, expression=n.expression),
    ),
}


def changes_of(plan):
    """Every single change of a plan's statements, as (name, statement, place in its tree)."""
    for number, statement in enumerate(plan.statements):
        nodes = list(sqlglot.parse_one(statement.sql, dialect="duckdb").walk())
        for name, (applies, _) in TREE_CHANGES.items():
            for place, node in enumerate(nodes):
                if applies(node):
                    yield name, number, place


def with_change(plan, name, number, place):
    """The plan with one change; None if it changes nothing."""
    old = plan.statements[number].sql
    tree = sqlglot.parse_one(old, dialect="duckdb")
    node = list(tree.walk())[place]
    new = TREE_CHANGES[name][1](node)
    if new is None:
        node.pop()
    elif new is not node:
        node.replace(new)
    text = tree.sql(dialect="duckdb")
    if text == old:
        return None
    blocks = [replace(part, sql=text) if part.sql == old else part for part in plan.blocks]
    choices = [replace(part, sql=text) if part.sql == old else part for part in plan.choices]
    engine_sql = text if plan.engine_sql == old else plan.engine_sql
    return replace(plan, engine_sql=engine_sql, blocks=tuple(blocks), choices=tuple(choices))


def some_mutants(plan, draw, count):
    """Some mutants of a plan: one of each of `count` names, at a random place."""
    by_name = {}
    for name, number, place in changes_of(plan):
        by_name.setdefault(name, []).append((number, place))
    declared = list(declared_mutants(plan))
    names = [*by_name, *(name for name, _ in declared)]
    for i in draw.permutation(len(names))[:count]:
        if i >= len(by_name):
            yield declared[i - len(by_name)]
            continue
        places = by_name[names[i]]
        mutant = with_change(plan, names[i], *places[int(draw.integers(len(places)))])
        if mutant is not None:
            yield names[i], mutant


def _noisier(mechanism, by):
    if isinstance(mechanism, Laplace):
        return Laplace(epsilon=mechanism.epsilon * by, sensitivity=mechanism.sensitivity)
    return Gaussian(variance=mechanism.variance / by, sensitivity=mechanism.sensitivity)


def _surer(mechanism):
    """The same noise, for a smaller sensitivity."""
    half = mechanism.sensitivity * Fraction(3, 5)
    if isinstance(mechanism, Laplace):
        return Laplace(epsilon=mechanism.epsilon * Fraction(3, 5), sensitivity=half)
    return Gaussian(variance=mechanism.variance, sensitivity=half)


def declared_mutants(plan):
    """Every mutant of a plan in which something that it declares has changed."""
    for i, block in enumerate(plan.blocks):
        for name, noise in (
            ("sensitivity too small", _surer(block.mechanism)),
            ("noise too small", _noisier(block.mechanism, 2)),
        ):
            blocks = list(plan.blocks)
            blocks[i] = replace(block, mechanism=noise)
            yield name, replace(plan, blocks=tuple(blocks))
        if len(block.features) > 1:
            blocks = list(plan.blocks)
            blocks[i] = replace(block, features=block.features[::-1])
            yield "features turned round", replace(plan, blocks=tuple(blocks))
    for i, choice in enumerate(plan.choices):
        choices = list(plan.choices)
        if choice.changes > 1:
            choices[i] = replace(choice, changes=choice.changes - 1)
            yield "fewer changes", replace(plan, choices=tuple(choices))
        if isinstance(choice.mechanism, PermuteAndFlip):
            old = choice.mechanism
            smaller = PermuteAndFlip(
                epsilon=old.epsilon, sensitivity=old.sensitivity / 2, monotone=old.monotone
            )
            choices[i] = replace(choice, mechanism=smaller)
            yield "score moves less", replace(plan, choices=tuple(choices))
    yield "cheaper", replace(plan, epsilon=plan.epsilon / 2)
    if plan.thresholding is not None:
        rule = plan.thresholding
        if rule.groups > 1:
            fewer = Thresholding(
                epsilon=rule.epsilon,
                delta=rule.delta,
                groups=rule.groups - 1,
                neighbors=rule.neighbors,
            )
            yield "threshold for fewer groups", replace(plan, thresholding=fewer)
        yield "delta forgotten", replace(plan, delta=plan.delta / 10)
    if plan.beside:
        yield "a table is not charged", replace(plan, beside=())
    other = "add-remove" if plan.neighbors == "replace" else "replace"
    yield "other neighbours", replace(plan, neighbors=other)
    yield "other unit", replace(plan, unit="x")
    yield "public table charged", replace(plan, table="lookup")
