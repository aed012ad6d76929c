"""What every row adds to every published number, exactly.

A question is planned once more with a number for each row as a further key, so that the
engine's own statements return each row's integers. A number that is linear in them (a count, a
sum) is then a vector with one integer for each row. So is an average if its question also gives
the count of its values: their product is the sum. Other averages, quantiles and the like are
not linear, and questions about several tables cannot be split by row: they are listed as not
attacked.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.audit.attack.rows.owned_sources import OwnedRows
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.opening import open_engine
from deniable.errors import DeniableError
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import ColumnRef, Named
from deniable.query.language.within_clause import split_within_clause
from deniable.query.margins.linear_forms import LinearForm, RatioForm, form
from deniable.query.plan.plan import KeyColumn, Plan
from deniable.query.planner.request import make_plan

_NOT_LINEAR = "it has no count or sum of one table's rows, and no average beside its count"
ROW = "attacked row"  # the name of the further key
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """One number of one answer: `question` is the place of its question in the list. With
    `times` it is the product of two outputs: an average times its count, which is a sum."""

    question: int
    output: str
    keys: tuple[Any, ...]
    times: str | None = None

    def __str__(self) -> str:
        where = ", ".join(map(str, self.keys))
        shown = self.output if self.times is None else f"{self.output} × {self.times}"
        return f"question {self.question + 1}, {shown}" + (f" of {where}" if where else "")


@dataclass(frozen=True, slots=True, repr=False)
class Contributions:
    """The exact contribution of each row to each number: `vectors[i] * scales[i]`. Private."""

    numbers: tuple[PublishedNumber, ...]
    vectors: Integers  # a row for each number, a column for each row of the table
    scales: tuple[Fraction, ...]
    skipped: tuple[tuple[str, str], ...]  # questions that are not attacked, and why

    def values(self) -> NDArray[np.float64]:
        """The contributions in the numbers' own units."""
        factors = np.array([float(scale) for scale in self.scales])
        return np.asarray(self.vectors * factors[:, None], dtype=np.float64)


def contribute(
    owned: OwnedRows, questions: Sequence[str], secret: dict[str, Any] | None = None
) -> Contributions:
    """Contributions of all rows; with `secret`, as if a column had one value in all of them.

    >>> from deniable.audit.attack.rows.owned_sources import read_owned
    >>> people = read_owned(pa.table({"age": [20, 70, 80]}), table="people")
    >>> contribute(people, ["SELECT COUNT(*) FROM people WHERE age > 50"]).vectors.tolist()
    [[0, 1, 1]]
    """
    rows = owned.rows
    for name, value in (secret or {}).items():
        place, kind = rows.column_names.index(name), rows.schema.field(name).type
        column = pa.repeat(pa.scalar(value, kind), rows.num_rows)
        rows = rows.set_column(place, name, column)
    rows = rows.append_column(ROW, pa.array(np.arange(rows.num_rows)))
    policy = _policy(owned.table, rows)
    found: dict[PublishedNumber, tuple[Integers, Fraction]] = {}
    skipped: list[tuple[str, str]] = []
    with open_engine(policy) as engine:
        known = policy.with_schemas({owned.table.name: engine.schema(owned.table.name)})
        for place, text in enumerate(questions):
            try:
                plan = make_plan(_with_row(text), known, epsilon=1, delta=Fraction(1, 10))
                if plan.tables != (owned.table.name,) or plan.choices:
                    raise _NotLinear
                exact = engine.run(plan).reveal_to(lambda groups: groups)
                found |= dict(_split(place, plan, exact, rows.num_rows))
            except (_NotLinear, OverflowError):
                skipped.append((text, _NOT_LINEAR))
            except DeniableError as problem:
                skipped.append((text, str(problem).split("\n")[0]))
    vectors = [vector for vector, _ in found.values()]
    stacked = np.stack(vectors) if vectors else np.zeros((0, rows.num_rows), dtype=np.int64)
    scales = tuple(scale for _, scale in found.values())
    return Contributions(tuple(found), stacked, scales, tuple(skipped))


class _NotLinear(Exception):
    """A question without a number that is linear in the rows."""


def _policy(table: Table, rows: "pa.Table") -> Policy:
    """A policy in which each row is a unit, so that no contribution is limited."""
    declared = {name: one for name, one in table.columns.items() if name != ROW}
    return Policy([Table(table.name, rows, columns=declared)], epsilon=1, delta=Fraction(1, 2))


def _with_row(text: str) -> Question:
    question = parse(split_within_clause(text)[0])
    key = Named(ROW, ColumnRef(ROW))
    # What chooses among released groups is no matter: all of them were measured.
    return replace(
        question,
        keys=(*question.keys, key),
        outputs=(*question.outputs, key),
        having=None,
        order=(),
        limit=None,
    )


def _split(
    place: int, plan: Plan, exact: ExactGroups, many: int
) -> Iterable[tuple[PublishedNumber, tuple[Integers, Fraction]]]:
    """A vector for each linear output and each group of the question."""
    forms = {
        one.name: form(one.node) for one in plan.outputs if not isinstance(one.node, KeyColumn)
    }
    outputs = [
        (name, linear)
        for name, linear in forms.items()
        if isinstance(linear, LinearForm) and linear.weights
    ]
    if not outputs:
        raise _NotLinear
    row = len(plan.keys) - 1
    rows = np.asarray(exact.keys[row].to_numpy(zero_copy_only=False), dtype=np.int64)
    shown = [_key_values(plan, exact, i) for i in range(row)]
    groups = list(zip(*shown, strict=True)) if shown else [()] * len(rows)
    numbered = {keys: i for i, keys in enumerate(dict.fromkeys(groups))}
    where = np.array([numbered[keys] for keys in groups], dtype=np.int64)
    counted = {} if exact.units is None else {"units": exact.units}
    features = counted | dict(exact.features)
    for name, linear in outputs:
        added, scale = _add(linear, features)
        for keys, number in numbered.items():
            vector = np.zeros(many, dtype=np.int64)
            vector[rows[where == number]] = _bounded(added[where == number])
            yield PublishedNumber(place, name, keys), (vector, scale)
    for name, count, above in _averages(forms, outputs, features):
        added, scale = _add(above, features)
        for keys, number in numbered.items():
            vector = np.zeros(many, dtype=np.int64)
            vector[rows[where == number]] = _bounded(added[where == number])
            yield PublishedNumber(place, name, keys, count), (vector, scale)


def _add(linear: LinearForm, features: dict[str, Any]) -> tuple[NDArray[Any], Fraction]:
    """What each row adds to a linear form, in whole numbers of a scale."""
    scale = Fraction(1, math.lcm(*(w.denominator for _, w in linear.weights)))
    added = sum(
        np.asarray(features[one], dtype=object) * int(weight / scale)
        for one, weight in linear.weights
    )
    return np.asarray(added), scale


def _averages(
    forms: dict[str, Any], outputs: Sequence[tuple[str, LinearForm]], features: dict[str, Any]
) -> Iterable[tuple[str, str, LinearForm]]:
    """Averages that are published beside the count of their values: their name, that of the
    count, and the sum. A count of rows is that count if no value is NULL."""
    for name, ratio in forms.items():
        if not isinstance(ratio, RatioForm) or not (
            ratio.above.weights and ratio.below.weights
        ):
            continue
        if ratio.above.constant or ratio.below.constant:
            continue
        below, unit = _add(ratio.below, features)
        for count, linear in outputs:
            counted, scale = _add(linear, features)
            if not linear.constant and (below * unit == counted * scale).all():
                yield name, count, ratio.above
                break


def _bounded(added: NDArray[Any]) -> Integers:
    """Whole numbers of which sums and differences fit into 64 bits."""
    if len(added) and max(abs(int(added.max())), abs(int(added.min()))) >= 2**60:
        raise OverflowError
    return added.astype(np.int64)


def _key_values(plan: Plan, exact: ExactGroups, place: int) -> list[Any]:
    step = plan.keys[place].step
    values = exact.keys[place].to_pylist()
    return values if step is None else [None if v is None else float(v * step) for v in values]
