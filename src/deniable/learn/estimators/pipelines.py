"""Steps of a scikit-learn pipeline that stand ahead of one of our estimators.

They are fitted on raw rows, outside of the guarantee. An estimator gets an array and cannot
tell where it comes from; but the pipeline that calls its `fit` is in the stack of calls.
"""

import inspect
import warnings
from typing import Any

from deniable.errors import PipelineWarning

_DEPTH = 16  # calls from a pipeline to a step's fit


def warn_of_steps_ahead(estimator: Any) -> None:
    """Says which steps ahead of an estimator are fitted, if a pipeline fits it."""
    ahead = _steps_ahead(estimator)
    if ahead:
        named = " and ".join(ahead)
        warnings.warn(
            f"{named} stands ahead of {type(estimator).__name__} in a pipeline, and is fitted "
            "on the raw rows: one row moves what all others become. The guarantee does not "
            "hold for that. Our cells need no scaling: leave such steps out, or replace them "
            "by ones that treat each row by itself.",
            PipelineWarning,
            stacklevel=3,
        )


def _steps_ahead(estimator: Any) -> list[str]:
    frame = inspect.currentframe()
    for _ in range(_DEPTH):
        frame = None if frame is None else frame.f_back
        if frame is None:
            return []
        owner: Any = frame.f_locals.get("self")
        if _is_pipeline(owner):
            steps = [step for _, step in owner.steps]
            ours = [i for i, step in enumerate(steps) if type(step) is type(estimator)]
            ahead = steps[: ours[0]] if ours else []
            return [type(step).__name__ for step in ahead if _is_fitted_on_rows(step)]
    return []


def _is_pipeline(owner: object) -> bool:
    classes = [(kind.__module__, kind.__name__) for kind in type(owner).__mro__]
    return ("sklearn.pipeline", "Pipeline") in classes


def _is_fitted_on_rows(step: Any) -> bool:
    """Whether a step learns from the rows; "passthrough" and None do not."""
    if not hasattr(step, "fit"):
        return False
    from sklearn.utils import get_tags

    return bool(get_tags(step).requires_fit)
