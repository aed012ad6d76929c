"""What an output, HAVING or ORDER BY computes from released values: its node, and its kind."""

from fractions import Fraction

from deniable.errors import InvalidQuery
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
    SubQuery,
)
from deniable.query.margins.linear_forms import RatioForm, features_of, form
from deniable.query.margins.released_texts import read_moment
from deniable.query.plan.node_kinds import node_kind
from deniable.query.plan.plan import (
    Chosen,
    Constant,
    KeyColumn,
    Node,
    Number,
    Operation,
    walk,
)
from deniable.query.planner.draft import Draft
from deniable.query.relations.kind_checks import case_parts

_LOGIC = frozenset(["and", "or", "not"])
_SUMS = ("sum", "sum_distinct")
_COMPARISONS = frozenset(["=", "<>", "<", "<=", ">", ">=", "in", "is distinct"])
_OF_ONE_KIND = _COMPARISONS | {"coalesce", "nullif"}
_JOINS = frozenset(["concat", "joined"])
_OF_ANY_KIND = frozenset(["case", "is null", "concat"])
_CUTS = frozenset(["left", "right", "substring"])  # a text, then numbers
_OF_TEXTS = _CUTS | {"lower", "upper", "length", "joined", "like", "ilike", "starts with"}
_OF_TEXTS |= {"ends with", "contains"}
_OF_NUMBERS = frozenset(
    ["+", "-", "*", "/", "negative", "abs", "sqrt", "power", "floor", "ceil"]
)
_OF_NUMBERS |= {"round", "round to", "trunc", "sign", "exp", "ln", "log10", "log2", "mod"}
_OF_NUMBERS |= {"least", "greatest", "clamp", "cast integer", "cast number"}
# Operations that can be applied to released values, beside CAST to text and to dates.
ALLOWED = _LOGIC | _OF_ONE_KIND | _OF_ANY_KIND | _OF_TEXTS | _OF_NUMBERS
_LARGEST = Fraction(10) ** 150  # constant: its square is a double
_MOST_JOINED = 100  # parts of a text that is put together


def output_node(expression: Expression, draft: Draft) -> Node:
    """The node that computes an expression of aggregates and keys from noisy features."""
    if expression in draft.key_expressions:
        return KeyColumn(draft.key_expressions.index(expression))
    if isinstance(expression, Aggregate):
        if expression.name in ("histogram", "quantiles", "top_k"):
            raise InvalidQuery(f"{expression} is many numbers: select it on its own.")
        return draft.nodes[expression]
    if isinstance(expression, Literal):
        value = expression.value
        if isinstance(value, Fraction):
            return Number(value)
        return Constant(value)
    if isinstance(expression, ColumnRef):
        raise InvalidQuery(_not_grouped(expression, draft))
    assert isinstance(expression, Call)
    if expression.name in ("cast text", "cast date"):
        return _cast(expression, draft)
    if expression.name not in ALLOWED:
        raise InvalidQuery(
            f"{expression} is not supported on released values. Arithmetic, ROUND, LN, EXP, "
            "SQRT, ABS, LEAST, GREATEST, CASE, COALESCE, NULLIF, CONCAT, UPPER, LOWER, LENGTH, "
            "LEFT, SUBSTRING, LIKE and comparisons are. Or compute it in the rows, inside an "
            "aggregate or in GROUP BY."
        )
    arguments = tuple(output_node(argument, draft) for argument in expression.arguments)
    if expression.name in _COMPARISONS:
        arguments = _read_dates(arguments, draft)
    if expression.name in _JOINS:
        arguments = tuple(
            _as_text(node, part, draft)
            for node, part in zip(arguments, expression.arguments, strict=True)
        )
    _check_kinds(expression, [output_kind(argument, draft) for argument in arguments])
    if expression.name in _CUTS and any(features_of(node) for node in arguments[1:]):
        raise InvalidQuery(f"{expression}: Where a text is cut must be a constant number.")
    node = Operation(expression.name, arguments)
    _check_size(node, expression)
    if _parts_joined(node) > _MOST_JOINED:
        raise InvalidQuery(f"At most {_MOST_JOINED} texts can be put together in one output.")
    return node


def _parts_joined(node: Node) -> int:
    """Of how many texts a value is put together."""
    inside = (part for part in walk(node) if isinstance(part, Operation))
    return 1 + sum(len(part.arguments) - 1 for part in inside if part.name in _JOINS)


def _check_size(node: Node, expression: Expression) -> None:
    """Refuses constants whose squares doubles cannot hold: the margin would fail."""
    shape = form(node)
    forms = (shape.above, shape.below) if isinstance(shape, RatioForm) else (shape,)
    numbers = [
        abs(number)
        for part in forms
        if part is not None
        for number in (part.constant, *dict(part.weights).values())
    ]
    if any(number and not 1 / _LARGEST <= number <= _LARGEST for number in numbers):
        raise InvalidQuery(
            f"{str(expression)[:80]}: Its constants multiply to a number beyond 1e150, or "
            "below 1e-150. Use others."
        )


def _not_grouped(column: ColumnRef, draft: Draft) -> str:
    kind = draft.scope.value_range(column).kind
    instead = f"AVG({column})" if kind == "number" else f"COUNT(DISTINCT {column})"
    return (
        f"{column} is neither in an aggregate nor in GROUP BY, so its rows would be released. "
        f"Add GROUP BY {column}, or use an aggregate: {instead}."
    )


def _cast(call: Call, draft: Draft) -> Node:
    """CAST to text and to a date."""
    argument = output_node(call.arguments[0], draft)
    if call.name == "cast text":
        return _as_text(argument, call.arguments[0], draft)
    if output_kind(argument, draft) not in ("text", "date", None):
        raise InvalidQuery(f"{call}: Only texts and dates can be read as dates.")
    return _as_date(argument)


def _as_text(node: Node, expression: Expression, draft: Draft) -> Node:
    """A released value as text. Integers of SQL are written without a point, and so are keys
    that are declared as whole numbers: they are shown like that, too."""
    kind = output_kind(node, draft)
    if kind in ("text", None):
        return node
    if kind != "number":
        raise InvalidQuery(
            f"{expression} is a {kind}, which cannot be written as text. Use CASE, or a number "
            "such as YEAR(...)."
        )
    whole = _is_integer(expression, draft)
    if isinstance(node, KeyColumn):
        declared = draft.keys[node.place].values or ()
        whole = whole or (bool(declared) and all(isinstance(v, int | None) for v in declared))
    return Operation("integer text" if whole else "number text", (node,))


def _is_integer(expression: Expression, draft: Draft) -> bool:
    """Whether DuckDB gives an expression an integer type."""
    if isinstance(expression, Aggregate):
        argument = expression.argument
        whole = argument is not None and draft.scope.is_integer(argument)
        return expression.name.startswith("count") or (expression.name in _SUMS and whole)
    if isinstance(expression, Call) and expression not in draft.key_expressions:
        keeps = expression.name in ("+", "-", "*", "negative", "abs", "cast integer", "mod")
        return keeps and all(_is_integer(part, draft) for part in expression.arguments)
    return not isinstance(expression, SubQuery) and draft.scope.is_integer(expression)


def _read_dates(arguments: tuple[Node, ...], draft: Draft) -> tuple[Node, ...]:
    """Texts that are compared with a date are read as dates."""
    if "date" not in [output_kind(argument, draft) for argument in arguments]:
        return arguments
    return tuple(
        _as_date(argument) if isinstance(argument, Constant) else argument
        for argument in arguments
    )


def _as_date(node: Node) -> Node:
    """A text or NULL as a date. A constant that is not a date is refused before the charge."""
    if not isinstance(node, Constant) or node.value is None:
        return Operation("cast date", (node,))
    if isinstance(node.value, bool):
        return node  # not of the kind of dates
    if read_moment(node.value) is None:
        raise InvalidQuery(
            f"{node.value[:40]!r} is not a date. Write it like '2026-01-31' or "
            "'2026-01-31 10:00:00'."
        )
    return Operation("cast date", (node,))


def _check_kinds(call: Call, given: list[str | None]) -> None:
    """Refuses what would fail on released keys and modes: only numbers can be computed with,
    and only values of one kind can be compared."""
    kinds = {kind for kind in given if kind is not None}
    if call.name in _OF_ONE_KIND:
        fits = len(kinds) < 2
    elif call.name in _LOGIC:
        fits = kinds <= {"boolean"}
    elif call.name in _OF_TEXTS:
        texts = given[:1] if call.name in _CUTS else given
        fits = set(texts) - {None} <= {"text"} and set(given[len(texts) :]) <= {"number"}
    elif call.name == "case":
        conditions, values = case_parts(given)
        fits = set(conditions) <= {"boolean", None} and len(set(values) - {None}) < 2
    else:
        fits = call.name in _OF_ANY_KIND or kinds <= {"number"}
    if not fits:
        shown = ", ".join(str(kind) for kind in given if kind is not None)
        raise InvalidQuery(
            f"{call} combines values of the kinds {shown}. Released values can be compared if "
            "they are of one kind, and conditions must be true or false. Otherwise numbers are "
            "needed: CAST one of them."
        )


def output_kind(node: Node, draft: Draft) -> str | None:
    """The kind of a released value."""

    def leaf(part: KeyColumn | Chosen) -> str:
        if isinstance(part, KeyColumn):
            return draft.keys[part.place].kind
        key = draft.unpriced[part.choice].key
        return "number" if key is None else key.kind

    return node_kind(node, leaf)
