"""Private answers for an attack, from a ledger that is forgotten. They never leave the attack:
with many of them anyone could average the noise away."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.rows.owned_sources import OwnedRows
from deniable.audit.attack.rows.published_numbers import PublishedNumber
from deniable.errors import DeniableError
from deniable.exact.rationals import Number, positive
from deniable.policy import Policy, Table
from deniable.privacy.losses.loss import delta_of
from deniable.query.plan.plan import KeyColumn
from deniable.release.public_session import Session
from deniable.release.session.connecting import connect

DELTA = Fraction(1, 10**6)


def open_forgotten(
    owned: OwnedRows, *, epsilon: Number, delta: Number = DELTA, rows: Any = None
) -> Session:
    """A session over the owner's rows (or others of the same kind), with a ledger in memory."""
    table = owned.table
    limits = (
        {}
        if table.unit is None
        else {
            "unit": table.unit,
            "max_groups_per_unit": table.max_groups_per_unit,
            "max_rows_per_unit_per_group": table.max_rows_per_unit_per_group,
        }
    )
    private = Table(
        table.name,
        owned.rows if rows is None else rows,
        neighbors=table.neighbors,
        columns=table.columns,
        row_ceiling=table.row_ceiling,
        expected_rows=table.expected_rows,
        **limits,  # type: ignore[arg-type]
    )
    tables = [private, *owned.beside]
    return connect(Policy(tables, epsilon=epsilon, delta=delta), Session)


def answer_privately(
    owned: OwnedRows,
    texts: Sequence[str],
    numbers: Sequence[PublishedNumber],
    *,
    epsilon: Number,
    delta: Number = DELTA,
) -> NDArray[np.float64]:
    """A private answer for each number, all together at this epsilon; NaN: not released. What
    a question adds to the sum of its rows is taken off."""
    places = sorted({number.question for number in numbers})
    share = positive(epsilon, "epsilon") / max(1, len(places))
    slack = Fraction(delta_of(delta)) / max(1, len(places))
    answers: dict[tuple[int, str, tuple[Any, ...]], float] = {}
    with open_forgotten(owned, epsilon=epsilon, delta=delta) as session:
        for place in places:
            try:
                answers |= _answer(session, place, texts[place], share, slack)
            except DeniableError:
                continue  # a question that cannot be answered privately publishes nothing

    def look_up(number: PublishedNumber, output: str | None) -> float:
        return answers.get((number.question, output or "", _plain(number.keys)), np.nan)

    return np.array(
        [
            (look_up(n, n.output) - float(n.plus))
            * (1 if n.times is None else look_up(n, n.times))
            for n in numbers
        ],
        dtype=np.float64,
    )


def tabulate_privately(
    owned: OwnedRows,
    tables: Sequence[Sequence[str]],
    numbers: Sequence[PublishedNumber],
    *,
    epsilon: Number,
    delta: Number = DELTA,
) -> NDArray[np.float64]:
    """The cells of private cross-tables at this epsilon, in the order of the numbers."""
    with open_forgotten(owned, epsilon=epsilon, delta=delta) as session:
        crosstables = session.crosstabs(tables, epsilon=epsilon, delta=delta)
    cells = {
        (place, _plain(cell)): float(value)
        for place, columns in enumerate(tables)
        for cell, value in zip(
            product(*crosstables[columns].labels),
            crosstables[columns].values.ravel(),
            strict=True,
        )
    }
    return np.array([cells.get((n.question, _plain(n.keys)), np.nan) for n in numbers])


def _answer(
    session: Session, place: int, text: str, epsilon: Fraction, delta: Fraction
) -> dict[tuple[int, str, tuple[Any, ...]], float]:
    plan = session.plan(text, epsilon=epsilon, delta=delta)
    table = session.release(plan).to_arrow()
    keys = {
        output.node.place: output.name
        for output in plan.outputs
        if isinstance(output.node, KeyColumn)
    }
    if len(keys) < len(plan.keys):  # a key that is not shown tells nobody which row is whose
        return {}
    columns = [table[keys[i]].to_pylist() for i in range(len(plan.keys))]
    rows = list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
    return {
        (place, output.name, _plain(row)): np.nan if value is None else float(value)
        for output in plan.outputs
        if not isinstance(output.node, KeyColumn) and output.kind == "number"
        for row, value in zip(rows, table[output.name].to_pylist(), strict=True)
    }


def _plain(keys: Sequence[Any]) -> tuple[Any, ...]:
    """Keys as they compare equal, whether an engine or a release names them."""
    return tuple(key if key is None or isinstance(key, bool) else _number(key) for key in keys)


def _number(key: Any) -> float | str:
    return float(key) if isinstance(key, int | float) else str(key)
