"""The options of a question: its price or its accuracy, and how the answer is shown."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NotRequired, TypedDict, TypeVar, cast

from deniable.exact.rationals import Number

Method = TypeVar("Method", bound=Callable[..., Any])


def with_names(example: str) -> Callable[[Method], Method]:
    """Decorates a method whose arguments, except a question, must have names.

    Python's own TypeError counts arguments, but does not say that a name is missing.
    """
    most = int(example.startswith("question"))

    def decorate(method: Method) -> Method:
        @wraps(method)
        def checked(self: Any, *values: Any, **options: Any) -> Any:
            if len(values) > most:
                raise TypeError(
                    f"{method.__name__}() takes arguments{' after the question' * most} only "
                    f"with their names. Write {method.__name__}({example})."
                )
            if len(values) < most and not {"text", "question"} & options.keys():
                raise TypeError(
                    f"{method.__name__}() needs a question. Write {method.__name__}({example})."
                )
            return method(self, *values, **options)

        return cast(Method, checked)

    return decorate


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
    nulls: NotRequired[bool]  # NULL is one more group beside declared keys
    brackets: NotRequired[bool]  # False: quantiles without intervals, but sharper


class StreamOptions(TypedDict):
    """The price of a counter or a watch, whom it protects, and what it shows."""

    epsilon: NotRequired[Number | None]
    delta: NotRequired[Number | None]
    rho: NotRequired[Number | None]  # instead of epsilon
    per_person: NotRequired[int | None]
    window: NotRequired[int | None]
    confidence: NotRequired[Number]
    explain: NotRequired[bool]


class CopyOptions(TypedDict):
    """The keyword arguments of `copy`, beside its price."""

    columns: NotRequired[Sequence[str] | None]
    cuts: NotRequired[Mapping[str, Sequence[Any]] | None]  # public cuts of numbers and days
    dates: NotRequired[Mapping[str, Sequence[Any]] | None]  # ranges of days
    workload: NotRequired[Sequence[Sequence[str]] | Mapping[tuple[str, ...], Number] | None]
    rows: NotRequired[int | None]
    method: NotRequired[str]  # "auto", "mst" or "aim"
    keys_epsilon: NotRequired[Number | None]
    depends: NotRequired[Mapping[str, tuple[str, Mapping[Any, Any]]] | None]
    impossible: NotRequired[Sequence[Mapping[str, Any]] | None]
    missing: NotRequired[bool]
    confidence: NotRequired[Number]
