"""Rows for a fitted model: the columns that it needs, by name, from a frame or a matrix."""

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.errors import InvalidParameter
from deniable.learn.measure.array_columns import named_values, read_new_column


def matrix_width(names: Sequence[str]) -> int:
    """How many columns a matrix has that holds columns of these names: x0, x1, ... in order.

    >>> matrix_width(["x0", "x1"]), matrix_width(["x3"]), matrix_width(["age", "sex"])
    (2, 4, 2)
    """
    places = [name[1:] for name in map(str.lower, names) if name.startswith("x")]
    if len(places) < len(names) or not all(place.isdecimal() for place in places):
        return len(names)
    return 1 + max(map(int, places))


def check_width(X: Any, model: Any) -> None:
    """Refuses a matrix with another number of columns than that of the fit; of a model from a
    file, which says only what it needs, one with fewer. No value is looked at."""
    columns, width = list(named_values(X)), model.n_features_in_
    unnamed = columns == [f"x{i}" for i in range(len(columns))]
    loaded = not hasattr(model, "releases_")
    if unnamed and len(columns) != width and not (loaded and len(columns) > width):
        raise InvalidParameter(
            f"X has {len(columns)} features, but {type(model).__name__} is expecting {width} "
            "features as input."
        )


def read_rows(X: Any, kinds: Mapping[str, Any], model: Any) -> dict[str, list[Any]]:
    """The values of the named columns, in their kinds, for a model."""
    check_width(X, model)
    columns = {name.lower(): values for name, values in named_values(X).items()}
    if lacking := [name for name in kinds if name.lower() not in columns]:
        raise InvalidParameter(
            f"X has {len(columns)} features, but {type(model).__name__} is expecting "
            f"{len(kinds)} features as input: {', '.join(lacking[:5])} is missing."
        )
    return {
        name: read_new_column(columns[name.lower()], kind).to_pylist()
        for name, kind in kinds.items()
    }
