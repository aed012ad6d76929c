"""The kind of a released value: "number", "text", "boolean" or "date", or None for NULL."""

from collections.abc import Callable

from deniable.query.plan.plan import Chosen, Constant, KeyColumn, Node, Operation, Plan

BOOLEAN = frozenset(["=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "is null", "in"])
BOOLEAN |= {"is distinct", "like", "ilike", "starts with", "ends with", "contains"}
_TEXT = frozenset(["lower", "upper", "left", "right", "substring", "concat", "joined"])
_TEXT |= {"integer text", "number text", "cast text"}
_SAME = frozenset(["coalesce", "nullif", "case"])  # the kind of their values
_KINDS = {"moment": "date"}


def node_kind(node: Node, leaf: Callable[[KeyColumn | Chosen], str]) -> str | None:
    """The kind of a node's values. `leaf` tells the kind of a key or of a chosen value.

    >>> node_kind(Operation("upper", (KeyColumn(0),)), lambda key: "text")
    'text'
    >>> node_kind(Operation(">", (KeyColumn(0), KeyColumn(1))), lambda key: "number")
    'boolean'
    """
    if isinstance(node, KeyColumn | Chosen):
        kind = leaf(node)
        return _KINDS.get(kind, kind)
    if isinstance(node, Constant):
        return None if node.value is None else ("text", "boolean")[isinstance(node.value, bool)]
    if not isinstance(node, Operation):
        return "number"
    if node.name in BOOLEAN:
        return "boolean"
    if node.name in _TEXT:
        return "text"
    if node.name == "cast date" or node.name.startswith("start of "):
        return "date"
    if node.name in _SAME:
        values = node.arguments
        if node.name == "case":
            odd = len(values) % 2
            values = (*values[1::2], *(values[-1:] if odd else ()))
        kinds = (node_kind(value, leaf) for value in values)
        return next((kind for kind in kinds if kind is not None), None)
    return "number"


def released_kind(plan: Plan, node: Node) -> str:
    """The kind of a node's values in the answer to a plan; that of NULL is "number"."""

    def leaf(part: KeyColumn | Chosen) -> str:
        if isinstance(part, KeyColumn):
            return plan.keys[part.place].kind
        labels = plan.choices[part.choice].labels or (0,)
        kinds = {str: "text", bool: "boolean"}
        return kinds.get(type(labels[0]), "number")

    return node_kind(node, leaf) or "number"
