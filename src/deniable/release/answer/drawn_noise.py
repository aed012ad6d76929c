"""Noise that is drawn before an engine runs, where its length is public.

Drawing takes time: the more numbers, the longer, and by chance more or less. A server waits
with an answer for the end of its slot. What is drawn before the engine starts does not have to
be drawn after it, when nobody knows how much of the slot is left. With declared keys the number
of groups is public, so all noise of counts and sums can be drawn. The laws are those of the
plan's mechanisms, and each draw is added to one number, once.
"""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.engines.handover.declared_keys import engine_values
from deniable.mechanisms import Gaussian, Laplace
from deniable.mechanisms.grid import put_on_grid
from deniable.query.plan.plan import Block, Plan

MOST = 1 << 20  # numbers that are drawn ahead; more would only fill memory


class DrawnNoise:
    """The noise of a plan's blocks; nothing if its length is not public.

    >>> from deniable.policy import Policy, Table
    >>> from deniable.query.planner.request import make_plan
    >>> visits = Table("visits").with_schema({"ward": "VARCHAR"})
    >>> plan = make_plan("SELECT COUNT(*) FROM visits", Policy([visits], epsilon=1), epsilon=1)
    >>> noise = DrawnNoise(plan)
    >>> [noise.take(plan.blocks[0], 1).shape, noise.take(plan.blocks[0], 1)]
    [(1, 1), None]
    """

    def __init__(self, plan: Plan) -> None:
        groups = public_groups(plan)
        numbers = (
            0 if groups is None else groups * sum(len(block.features) for block in plan.blocks)
        )
        self._drawn: dict[tuple[str, ...], NDArray[Any]] = {}
        if groups and numbers <= MOST:
            self._drawn = {block.features: _draw(block, groups) for block in plan.blocks}

    def take(self, block: Block, groups: int) -> NDArray[Any] | None:
        """The noise of a block, a row for each feature. It is given once, to be used once."""
        drawn = self._drawn.pop(block.features, None)
        return drawn if drawn is None or drawn.shape[1] == groups else None


def _draw(block: Block, groups: int) -> NDArray[Any]:
    assert block.mechanism.step == 1  # integers: with other steps they are rounded first
    size = len(block.features) * groups
    return block.mechanism.noise(size).draw(size).reshape(len(block.features), groups)


def public_groups(plan: Plan) -> int | None:
    """How many groups an answer has; None if that depends on the rows."""
    if plan.thresholding is not None or plan.distances is not None:
        return None
    return prod(len(engine_values(key)) for key in plan.keys) + bool(plan.other)


def add_drawn(
    mechanism: Laplace | Gaussian, exact: NDArray[Any], drawn: NDArray[Any] | None
) -> NDArray[Any]:
    """What a mechanism releases of integers, with this noise if it was drawn before."""
    if drawn is None:
        released: NDArray[Any] = mechanism.release(exact)
        return released
    noised: NDArray[Any] = put_on_grid(exact, mechanism.step).add_noise(drawn)
    return noised


def concatenated(rows: "list[NDArray[Any]] | NDArray[Any]", part: slice) -> NDArray[Any]:
    """One part of each row, one after the other."""
    return np.concatenate([row[part] for row in rows])
