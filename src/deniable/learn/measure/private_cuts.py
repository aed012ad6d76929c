"""Cuts of numbers at private quantiles, which are paid for before a training."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import positive
from deniable.learn.measure.training_data import TrainingData, protected
from deniable.policy import Column
from deniable.query.language import builder
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Named
from deniable.query.plan.plan import Plan
from deniable.query.plan.quoting import quote_name
from deniable.release.asking.builder_steps import BuiltQuestion
from deniable.synth.domain.quantile_cuts import cuts_at

LEVELS = tuple(Fraction(i, 16) for i in range(1, 16))
_POINTS = 1 << 20  # of the grid of a number without a declared one


def private_cuts(
    table: BuiltQuestion, columns: Sequence[str], *, epsilon: Any
) -> dict[str, list[Any]]:
    """Cuts of numbers with declared bounds at fifteen private quantiles, for `cuts` of an
    estimator. They cost `epsilon` together, beside the training.

    They are worth their price where most values of a column are close together, and nobody
    knows where. Several equal quantiles make a cell of that one value.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table(
    ...     {"pay": [200 + i / 100 for i in range(2_000)], "y": [True, False] * 1000}
    ... )
    >>> data = dp.protect(rows, bounds={"pay": (0, 1_000_000)}, epsilon=10)
    >>> cuts = private_cuts(data.table("data"), ["pay"], epsilon=8)
    >>> sorted(cuts["pay"])[len(cuts["pay"]) // 2] < 100_000, str(data.remaining)
    (True, 'epsilon 2, delta 0')
    """
    different = {str(name).lower() for name in columns}
    if isinstance(columns, str) or not columns or len(different) < len(columns):
        raise InvalidParameter(f"`columns` must be a list of names. Found {columns!r}.")
    data = protected(table, None)
    table_columns = {name.lower(): column for name, column in data.table.columns.items()}
    known = [table_columns.get(str(name).lower()) for name in columns]
    for name, column in zip(columns, known, strict=True):
        if column is None or column.kind != "number" or column.bounds is None:
            raise InvalidParameter(
                f"{name} is not a number with declared bounds in {data.table.name}: it cannot "
                "be cut at quantiles. Nothing was spent."
            )
    price = positive(epsilon, "epsilon") / len(columns)
    numbers = [column for column in known if column is not None]
    plans = [_plan(data, column, price) for column in numbers]
    cuts: dict[str, list[Any]] = {}
    for column, release in zip(numbers, data.session.release_all(plans), strict=True):
        (row,) = release.to_arrow().to_pylist()
        quantiles = [float(row[output.name]) for output in release.plan.outputs]
        cuts[column.name] = list(cuts_at(_on_a_grid(column), quantiles))
    return cuts


def _plan(data: TrainingData, column: Column, price: Fraction) -> Plan:
    """The plan that finds the quantiles of one column."""
    outputs = (Named("cut", builder.quantiles(quote_name(column.name), LEVELS)),)
    question = Question(data.table.name, None, (), outputs, nan_is_null=True)
    return data.session.plan(question, epsilon=price, delta=0, brackets=False)


def _on_a_grid(column: Column) -> Column:
    """The column with a grid that is fine enough for a cell of one value."""
    assert column.bounds is not None
    low, high = column.bounds
    step = column.step or (Fraction(1) if column.integer else (high - low) / _POINTS)
    return Column(column.name, bounds=(low, high), step=step)
