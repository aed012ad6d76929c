"""A logistic regression on all features: one score that separates the two inputs."""

import numpy as np

from deniable.audit.test.features import OutputFeature
from deniable.audit.test.outputs import Batch, Floats

_ROWS = 4_000
_STEPS = 4
_SHRINK = 1e-3


def fit_logistic_score(
    x: Batch, y: Batch, features: tuple[OutputFeature, ...]
) -> OutputFeature | None:
    """The score as a feature, or None if outputs have only one column."""
    if max(x.width, y.width) < 2:
        return None
    few_x, few_y = x.rows(slice(_ROWS)), y.rows(slice(_ROWS))
    both = [np.concatenate([feature(few_x), feature(few_y)]) for feature in features]
    centers = [
        float(np.median(column[np.isfinite(column)])) if _any_finite(column) else 0.0
        for column in both
    ]
    scales = [_scale(column, center) for column, center in zip(both, centers, strict=True)]

    def table(batch: Batch) -> Floats:
        columns = []
        for feature, center, scale in zip(features, centers, scales, strict=True):
            with np.errstate(invalid="ignore", over="ignore"):
                far = np.nan_to_num((feature(batch) - center) / scale, nan=0.0)
            columns += [np.clip(far, -5, 5), np.tanh(2 * far)]
        return np.column_stack(columns)

    matrix = np.vstack([table(few_x), table(few_y)])
    label = np.concatenate([np.ones(len(few_x)), np.zeros(len(few_y))])
    weights = _fit(matrix, label)
    return OutputFeature("score", lambda batch: table(batch) @ weights)


def _any_finite(column: Floats) -> bool:
    return bool(np.isfinite(column).any())


def _scale(column: Floats, center: float) -> float:
    finite = column[np.isfinite(column)]
    if len(finite) == 0:
        return 1.0
    spread = float(np.percentile(np.abs(finite - center), 75))
    return spread if spread > 0 else max(float(np.abs(finite - center).max()), 1.0)


def _fit(matrix: Floats, label: Floats) -> Floats:
    """Newton's method with a ridge penalty; a few steps are enough for a score."""
    weights = np.zeros(matrix.shape[1])
    ridge = _SHRINK * len(label) * np.eye(matrix.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(matrix @ weights, -30, 30)))
        curved = matrix * (p * (1 - p) + 1e-6)[:, None]
        slope = matrix.T @ (label - p) - ridge @ weights
        weights = weights + np.linalg.solve(matrix.T @ curved + ridge, slope)
    return weights
