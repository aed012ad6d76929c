"""Margins before anything is spent: certain where the noise alone makes them, else estimated.

The margin of an average or a variance depends on how many rows there are. It is estimated
from the policy's public `expected_rows`, spread evenly over the groups, and left open without.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deniable.policy import Table
from deniable.query.blocks import Statistic
from deniable.query.forms import Linear, form
from deniable.query.keys import combinations
from deniable.query.margins import laws_of, margins
from deniable.query.plan import KeyColumn, Output, Plan
from deniable.query.price import expected, features_of


def forecast(plan: Plan, statistics: Sequence[Statistic], table: Table) -> tuple[Output, ...]:
    """The plan's outputs with their predicted margins."""
    groups = combinations(plan.keys)
    rows = None
    if table.expected_rows is not None and groups is not None:
        rows = table.expected_rows / groups
    features = expected(statistics, rows or 1.0) | {"units": np.array([rows or 1.0])}
    laws = laws_of(plan.blocks, plan.thresholding)

    def predicted(output: Output) -> Output:
        if isinstance(output.node, KeyColumn) or not features_of(output.node):
            return output
        certain = isinstance(form(output.node), Linear)
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
