"""Margins before anything is spent: certain where only the noise matters, else estimated.

The margin of an average or a variance depends on how many rows there are. It is estimated from
the policy's public `expected_rows`, spread evenly over the groups. Without it, no margin is
predicted.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from deniable.mechanisms import Quantiles
from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins.evaluation import Values
from deniable.query.margins.linear_forms import LinearForm, features_of, form
from deniable.query.margins.margins import laws_of, margins
from deniable.query.plan.plan import (
    Choice,
    Chosen,
    Output,
)
from deniable.query.planner.draft import Draft
from deniable.query.planner.noise import expected_features


def predict_margins(draft: Draft) -> None:
    """A step of the planner: the outputs with their predicted margins."""
    rows = draft.rows_per_group
    features = expected_features(draft.statistics, rows or 1.0)
    features |= {"units": np.array([rows or 1.0])}
    laws = laws_of(draft.blocks, draft.thresholding)
    outputs = []
    for output in draft.outputs:
        if isinstance(output.node, Chosen):
            choice = draft.choices[output.node.choice]
            outputs.append(_predict_chosen(output, choice, rows))
        else:
            outputs.append(_predict(output, laws, features, draft))
    draft.outputs = tuple(outputs)


def _predict(
    output: Output, laws: Mapping[str, Noise], features: Mapping[str, Values], draft: Draft
) -> Output:
    """The output with its margin, unless it is a key or its margin depends on the data."""
    certain = isinstance(form(output.node), LinearForm)
    if not features_of(output.node) or (not certain and draft.rows_per_group is None):
        return output
    confidence = draft.request.confidence
    margin = margins(
        output.node, laws, features, confidence=confidence, low=output.low, high=output.high
    )
    half = float(np.ceil(margin[0]) if output.count else margin[0])  # as it is released
    return replace(output, margin=half, estimated=not certain)


def _predict_chosen(output: Output, choice: Choice, rows: float | None) -> Output:
    """The margin in ranks or rows is certain. In the column's own unit it is an estimate, as if
    the rows were spread evenly, until neighbouring quantiles are released with it."""
    likely = None
    assert choice.margin is not None
    if isinstance(choice.mechanism, Quantiles) and rows is not None:
        grid = choice.mechanism.grid
        share = min(1.0, choice.margin / max(rows, 1.0))
        likely = float((grid.size - 1) * grid.step) * share
    if _lies_between(output, choice):
        return replace(output, margin=likely, estimated=likely is not None, margin_in="")
    return replace(output, margin=float(choice.margin), likely=likely)


def _lies_between(output: Output, choice: Choice) -> bool:
    """Whether other quantiles are released above and below this one, and the rows are counted
    too. Then its margin in the column's own unit is known afterwards."""
    if not isinstance(choice.mechanism, Quantiles) or not isinstance(output.node, Chosen):
        return False
    inside = output.node.name in choice.names[1:-1]
    return inside and choice.mechanism.method in ("fixed-target", "tree")
