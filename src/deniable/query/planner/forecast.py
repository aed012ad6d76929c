"""Margins before anything is spent: certain where the noise alone makes them, else estimated.

The margin of an average or a variance depends on how many rows there are. It is estimated
from the policy's public `expected_rows`, spread evenly over the groups, and left open without.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deniable.mechanisms import Quantiles
from deniable.policy import Table
from deniable.query.margins.forms import LinearForm, form
from deniable.query.margins.margins import laws_of, margins
from deniable.query.plan.plan import (
    Choice,
    Chosen,
    KeyColumn,
    Output,
    Plan,
)
from deniable.query.planner.noise import expected, features_of
from deniable.query.statements.group_keys import combinations
from deniable.query.statements.statistics import Statistic


def forecast(plan: Plan, statistics: Sequence[Statistic], table: Table) -> tuple[Output, ...]:
    """The plan's outputs with their predicted margins."""
    groups = combinations(plan.keys)
    rows = None
    if table.expected_rows is not None and groups is not None:
        rows = table.expected_rows / groups
    features = expected(statistics, rows or 1.0) | {"units": np.array([rows or 1.0])}
    laws = laws_of(plan.blocks, plan.thresholding)

    def predicted(output: Output) -> Output:
        if isinstance(output.node, Chosen):
            return _chosen(output, plan.choices[output.node.choice], rows)
        if isinstance(output.node, KeyColumn) or not features_of(output.node):
            return output
        certain = isinstance(form(output.node), LinearForm)
        if not certain and rows is None:
            return output
        margin = margins(
            output.node,
            laws,
            features,
            confidence=plan.confidence,
            low=output.low,
            high=output.high,
        )
        half = float(np.ceil(margin[0]) if output.count else margin[0])  # as it is released
        return replace(output, margin=half, estimated=not certain)

    return tuple(predicted(one) for one in plan.outputs)


def _chosen(output: Output, choice: Choice, rows: float | None) -> Output:
    """Ranks or rows are certain. In the column's own unit they are a guess: as if the rows
    were spread evenly; afterwards the quantiles that were released beside one tell."""
    likely = None
    assert choice.margin is not None
    if isinstance(choice.mechanism, Quantiles) and rows is not None:
        grid = choice.mechanism.grid
        share = min(1.0, choice.margin / max(rows, 1.0))
        likely = float((grid.size - 1) * grid.step) * share
    if between(output, choice):
        return replace(output, margin=likely, estimated=likely is not None, margin_in="")
    return replace(output, margin=float(choice.margin), likely=likely)


def between(output: Output, choice: Choice) -> bool:
    """Whether a quantile has others beside it, above and below, and the rows are counted too:
    then its margin is known afterwards in the column's own unit."""
    if not isinstance(choice.mechanism, Quantiles) or not isinstance(output.node, Chosen):
        return False
    inside = output.node.name in choice.names[1:-1]
    return inside and choice.mechanism.method in ("fixed-target", "tree")
