"""The options of a question: its price or its accuracy, and how the answer is shown."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NotRequired, TypedDict, TypeVar, cast

from deniable.exact.rationals import Number

Method = TypeVar("Method", bound=Callable[..., Any])


def question_first(method: Method) -> Method:
    """Decorates a method that takes a question: all other arguments must have a name.

    Python's own TypeError counts arguments, but does not say that a name is missing.
    """

    @wraps(method)
    def checked(self: Any, *values: Any, **options: Any) -> Any:
        if len(values) > 1:
            raise TypeError(
                f"{method.__name__}() takes only the question without a name. Name the other "
                f"arguments: {method.__name__}(question, epsilon=0.5)"
            )
        return method(self, *values, **options)

    return cast(Method, checked)


class AskOptions(TypedDict):
    """The keyword arguments of `sql`, `plan`, `explain` and `release` of a built question."""

    epsilon: NotRequired[Number | None]
    margin: NotRequired[Number | Mapping[str, Number] | None]  # instead of epsilon
    relative: NotRequired[Number | Mapping[str, Number] | None]  # a margin as a share of a size
    of: NotRequired[object]  # that size: a number, or an earlier release
    bounds: NotRequired[str | Sequence[str] | Mapping[str, str] | None]  # "find"
    delta: NotRequired[Number | None]
    confidence: NotRequired[Number]
    weights: NotRequired[Mapping[str, Number] | None]
    nonnegative: NotRequired[bool]
    other: NotRequired[bool]
