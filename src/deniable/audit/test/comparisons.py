"""The comparisons that an audit makes: of single calls, and of two calls in a row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from deniable.audit.test.mechanism_calls import Caller
from deniable.audit.test.outputs import Batch
from deniable.privacy import Loss

_Source: TypeAlias = Callable[[int], Iterator[Batch]]  # n -> n outputs, in batches


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sources of outputs, and the loss that is claimed between them."""

    name: str
    left: _Source
    right: _Source
    inputs: tuple[Any, Any]
    claim: Loss
    cost: int  # calls for one output
    single: bool  # whether outputs of single calls are compared


def list_comparisons(caller: Caller, claim: Loss, x: Any, y: Any) -> list[Comparison]:
    """All comparisons of two neighbouring inputs."""

    def compare(
        name: str, left: _Source, right: _Source, loss: Loss = claim, calls: int = 2
    ) -> Comparison:
        return Comparison(name, left, right, (x, y), loss, calls, calls == 1)

    return [
        compare("", lambda n: caller.outputs(x, n), lambda n: caller.outputs(y, n), calls=1),
        compare(
            "the second of two calls changed",
            lambda n: caller.twice(x, x, n),
            lambda n: caller.twice(x, y, n),
        ),
        compare(
            "the first of two calls changed",
            lambda n: caller.twice(x, x, n),
            lambda n: caller.twice(y, x, n),
        ),
        compare(
            "two calls in a row",
            lambda n: caller.in_a_row(x, n),
            lambda n: caller.in_a_row(y, n),
            claim * 2,
        ),
    ]
