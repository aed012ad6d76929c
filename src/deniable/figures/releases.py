"""Figures of answers, by their kind: bars, a ladder of quantiles, a line or a matrix."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from matplotlib.figure import Figure
from pyarrow import types

from deniable.errors import InvalidParameter
from deniable.exact.text_formats import percent
from deniable.figures.answer_shapes import (
    draw_bars,
    draw_histogram,
    draw_ladder,
    draw_line,
    draw_matrix,
    key_text,
)
from deniable.mechanisms import QuantileIntervals, Quantiles
from deniable.query.plan.plan import Chosen
from deniable.release.session.release import Release

_WORDS = {
    "AVG": "Mean",
    "COUNT": "Number",
    "MAX": "Maximum",
    "MEDIAN": "Median",
    "MIN": "Minimum",
    "STDDEV": "Standard deviation",
    "SUM": "Sum",
}


def bars(release: Release, column: str | None = None) -> Figure:
    """An answer, by its kind: a bar with a whisker for each group or bin, at most 30; a ladder
    of quantiles; a line with a band if the only key is a date; a matrix for two keys.

    `column` is the number to draw; by default the first one, or all bins of a histogram, or all
    quantiles of a column.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> visits = pa.table({"ward": ["A", "B"] * 50})
    >>> data = dp.protect(visits, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> answer = data.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> figure = bars(answer, "n")
    """
    name = _choose_column(release, column)
    levels = _levels(release) if column is None else {}
    bins = [*levels] or (_bins(release, name) if column is None else [])
    table, names = release.to_arrow(), bins or [name]
    values = [_as_float(cell) for field in names for cell in table[field].to_pylist()]
    # Margins of quantiles are in ranks, and a most frequent value has no interval.
    ends = [release.answer.ends.get(field, (field, field)) for field in names]
    lows, highs = (
        [_as_float(cell) for pair in ends for cell in table[pair[side]].to_pylist()]
        for side in (0, 1)
    )
    series = values, lows, highs
    labels = [field.partition("[")[2].removesuffix("]") for field in bins] or _labels(release)
    about, what = _describe(release, name.partition("[")[0] if bins else name)
    if levels:
        subject = release.plan.choices[0].about.rpartition(" of ")[2]
        about = f"Quantiles of {subject} in {release.plan.table}"
        return draw_ladder(about, f"{subject} ({what.partition(' (')[2]}", levels, *series)
    if bins:
        what = f"rows ({what.partition(' (')[2]}"
        if edges := _edges(labels):
            return draw_histogram(about, name.partition("[")[0], what, edges, *series)
    kinds = [key.kind for key in release.plan.keys]
    if kinds in (["date"], ["moment"]) and None not in _keys(release)[0]:
        return draw_line(about, what, _keys(release)[0], *series)
    if len(kinds) == 2 and len(_keys(release)) == 2:
        return draw_matrix(about, what, _keys(release), *series)
    return draw_bars(about, what, labels, *series)


def _edges(labels: Sequence[str]) -> list[tuple[float, float]]:
    """The ends of bins such as "0 to 100"; nothing if they are texts.

    >>> _edges(["0 to 100", "100 to 200"]), _edges(["flu", "A to B"])
    ([(0.0, 100.0), (100.0, 200.0)], [])
    """
    try:
        pairs = [label.split(" to ") for label in labels]
        return [(float(low), float(high)) for low, high in pairs]
    except ValueError:
        return []


def _describe(release: Release, name: str) -> tuple[str, str]:
    """A title, and what the numbers are."""
    plan = release.plan
    keys = " and ".join(key.name for key in plan.keys)
    by = f" by {keys}" if keys else ""
    cost = f"epsilon {float(plan.epsilon):g}"
    cost += f", delta {float(plan.delta):g}" if plan.delta else ""
    level = percent(plan.confidence)
    about = {output.name.partition("[")[0]: output.about for output in plan.outputs}
    subject = _in_words(about.get(name, name), name)
    return f"{subject} in {plan.table}{by}", f"{name} (with {level} intervals; {cost})"


def _in_words(about: str, name: str) -> str:
    """A simple aggregate in words; for anything else its name.

    >>> _in_words("AVG(cost)", "c"), _in_words("COUNT(*)", "n"), _in_words("SUM(a) / 2", "half")
    ('Mean of cost', 'Number of rows', 'half')
    """
    if about == "COUNT(*)":
        return "Number of rows"
    function, _, rest = about.partition("(")
    column = rest.removesuffix(")")
    if function == "COUNT" and column.startswith("DISTINCT "):
        return f"Number of different {column.removeprefix('DISTINCT ')}"
    if function == "HISTOGRAM":
        return f"Histogram of {column.partition(',')[0]}"
    simple = column.replace("_", "").isalnum() and rest.endswith(")")
    return f"{_WORDS[function]} of {column}" if simple and function in _WORDS else name


def _levels(release: Release) -> dict[str, Fraction]:
    """The share of rows below each number, if the answer is one row of several quantiles of
    one column, in ascending order; else nothing."""
    plan, levels = release.plan, dict[str, Fraction]()
    for output in plan.outputs:
        node = output.node
        if not isinstance(node, Chosen):
            return {}
        choice = plan.choices[node.choice]
        if not isinstance(choice.mechanism, Quantiles | QuantileIntervals):
            return {}
        level = choice.mechanism.quantiles[choice.names.index(node.name)]
        levels[output.name] = Fraction(level)
    one_column = len(plan.choices) == 1 and len(release) == 1 and not plan.keys
    sorted_levels = dict(sorted(levels.items(), key=lambda item: item[1]))
    return sorted_levels if one_column and len(set(sorted_levels.values())) > 1 else {}


def _bins(release: Release, first: str) -> list[str]:
    """The columns of one histogram, if the answer is only that."""
    numbers = list(release.answer.margins)
    stem = first.partition("[")[0]
    whole = len(release) == 1 and all(column.partition("[")[0] == stem for column in numbers)
    return numbers if whole and len(numbers) > 1 else []


def _keys(release: Release) -> list[list[Any]]:
    """The keys of all groups, as far as the answer shows them."""
    names = [key.name for key in release.plan.keys if key.name in release.columns]
    return [release.to_arrow()[name].to_pylist() for name in names]


def _choose_column(release: Release, column: str | None) -> str:
    kinds = {field.name: field.type for field in release.to_arrow().schema}
    # MODE and TOP_K may give texts, and MIN and MAX dates.
    numbers = [name for name in release.answer.margins if types.is_primitive(kinds[name])]
    numbers = [name for name in numbers if not types.is_temporal(kinds[name])]
    if not numbers or not len(release):
        raise InvalidParameter(
            "There is nothing to draw: the answer has no numbers or no rows."
        )
    if column is not None and column not in numbers:
        raise InvalidParameter(
            f"`column` must be a number of the answer: {', '.join(numbers)}. Found {column!r}."
        )
    return column or numbers[0]


def _labels(release: Release) -> Sequence[str]:
    """The labels of the groups, from their keys."""
    margins = release.answer.margins
    keys = [name for name in release.columns if name not in margins]
    if not keys:
        return ["" for _ in range(len(release))]
    rows = zip(*(release.to_arrow()[name].to_pylist() for name in keys), strict=True)
    return [", ".join(map(key_text, row)) for row in rows]


def _as_float(value: Any) -> float:
    return float("nan") if value is None else float(value)
