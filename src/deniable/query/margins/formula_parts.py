"""The parts of a formula that margins are computed from: cuts, denominators, variances."""

from collections.abc import Iterator

from deniable.query.margins.linear_forms import features_of, form, has_chosen
from deniable.query.margins.variances import VarianceForm, variance_form
from deniable.query.plan.node_kinds import BOOLEAN
from deniable.query.plan.plan import Node, Operation, walk

_CUTS = ("least", "greatest", "clamp")
_JUMPS = frozenset(["case", "mod", "length"])


def noisy_arguments(node: Operation) -> list[Node]:
    """The arguments that are computed from noisy numbers, each once.

    >>> from deniable.query.plan.plan import Feature
    >>> noisy_arguments(Operation("*", (Feature("a", 0), Feature("a", 0))))
    [Feature(name='a', block=0)]
    """
    return list(dict.fromkeys(inner for inner in node.arguments if features_of(inner)))


def jumps(node: Node) -> bool:
    """Whether small changes of noisy values can make a node jump from one value to another.

    >>> from fractions import Fraction
    >>> from deniable.query.plan.plan import Feature, Number
    >>> jumps(Operation(">", (Feature("a", 0), Number(Fraction(0)))))
    True
    """
    return any(
        isinstance(inner, Operation)
        and (inner.name in _JUMPS or inner.name in BOOLEAN)
        and bool(features_of(inner) or has_chosen(inner))
        for inner in walk(node)
    )


def remove_cuts(node: Node) -> Node:
    """The node without its cuts to public limits, where slopes would vanish.

    >>> from fractions import Fraction
    >>> from deniable.query.plan.plan import Feature, Number
    >>> remove_cuts(Operation("greatest", (Feature("a", 0), Number(Fraction(0)))))
    Feature(name='a', block=0)
    """
    if not isinstance(node, Operation):
        return node
    noisy = noisy_arguments(node)
    if node.name in _CUTS and len(noisy) == 1:
        return remove_cuts(noisy[0])
    return Operation(node.name, tuple(remove_cuts(argument) for argument in node.arguments))


def denominators(node: Node) -> Iterator[Node]:
    """The noisy numbers that a formula divides by; of a product, each factor. Those that a
    denominator itself divides by are left to its own interval.

    >>> from deniable.query.plan.plan import Feature
    >>> a, b, c = (Feature(name, 0) for name in "abc")
    >>> list(denominators(Operation("/", (a, Operation("/", (b, c)))))) == [
    ...     Operation("/", (b, c))
    ... ]
    True
    """
    divisors: dict[Node, None] = {}
    left = [node]
    while left:
        inner = left.pop()
        if not isinstance(inner, Operation):
            continue
        if inner.name == "/":
            divisors |= dict.fromkeys(_factors(inner.arguments[1]))
        left += inner.arguments[:1] if inner.name == "/" else inner.arguments
    yield from divisors


def _factors(node: Node) -> Iterator[Node]:
    if isinstance(node, Operation) and node.name in ("*", "sqrt") and form(node) is None:
        for argument in node.arguments:
            yield from _factors(argument)
    elif features_of(node):
        yield node


def spread_inside(node: Node) -> tuple[VarianceForm | None, bool]:
    """The variance that a node is, or whose root it is, and whether it is the root."""
    rooted = isinstance(node, Operation) and node.name == "sqrt"
    inner = node.arguments[0] if isinstance(node, Operation) and rooted else node
    return variance_form(inner), rooted


def direct_parts(node: Node) -> list[Node]:
    """The largest noisy parts that are linear forms, ratios or variances, each once.

    >>> from deniable.query.plan.plan import Feature
    >>> a, b = Feature("a", 0), Feature("b", 0)
    >>> [part.name for part in direct_parts(Operation("least", (a, b)))]
    ['a', 'b']
    """
    if not features_of(node):
        return []
    if form(node) is not None or spread_inside(node)[0] is not None:
        return [node]
    assert isinstance(node, Operation)
    parts = (part for argument in node.arguments for part in direct_parts(argument))
    return list(dict.fromkeys(parts))
