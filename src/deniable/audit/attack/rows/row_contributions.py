"""What every row adds to every published number, exactly.

A question is planned once more with a number for each row as a further key, so that the
engine's own statements return each row's integers. A number that is linear in them (a count, a
sum) is then a vector with one integer for each row. An average is two of them: what each row
adds above and below the line. Quantiles and the like are not linear: which rows they read is
known, and no more. Joins with public tables are followed; through a join of private tables
single rows cannot be followed, so such a question is listed with the reason.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.audit.attack.rows.followed_rows import ROW, UNIT, explain_refusal, follow_rows
from deniable.audit.attack.rows.number_forms import SplitAnswer, split_answer
from deniable.audit.attack.rows.owned_sources import OwnedRows
from deniable.audit.attack.rows.published_numbers import MOST_NUMBERS, Contributions
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.opening import open_engine
from deniable.errors import DeniableError
from deniable.policy import Policy, Table
from deniable.query.plan.plan import Plan
from deniable.query.planner.request import make_plan

_MANY = 10**6  # times that a row may count: joins and unions repeat it
_PRICE = _MANY**2  # nothing is paid; but values are rounded to a grid in line with the noise
NO_NUMBER = "it publishes no number that depends on the rows"


def contribute(
    owned: OwnedRows,
    questions: Sequence[str],
    secret: dict[str, Any] | None = None,
    *,
    room: int = MOST_NUMBERS,
) -> Contributions:
    """Contributions of all rows; with `secret`, as if a column had one value in all of them.
    `room` is how many numbers all vectors may hold.

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
    number = pa.array(np.arange(rows.num_rows))
    rows = rows.append_column(ROW, number).append_column(UNIT, number)
    policy = _policy(owned, rows)
    answers: list[SplitAnswer] = []
    skipped: list[tuple[str, str]] = []
    with open_engine(policy) as engine:
        known = policy.with_schemas({name: engine.schema(name) for name in policy.tables})
        for place, text in enumerate(questions):
            try:
                plan, exact = _run(text, owned, known, engine)
            except DeniableError as problem:
                skipped.append((text, str(problem).split("\n")[0]))
                continue
            answer = split_answer(place, plan, exact, rows.num_rows, room)
            room -= answer.size
            answers.append(answer)
            skipped += [(f"{name} in {text}", why) for name, why in answer.skipped]
            if not (answer.sums or answer.averages or answer.lone or answer.skipped):
                skipped.append((text, NO_NUMBER))
    return _join(answers, rows.num_rows, skipped)


def _run(text: str, owned: OwnedRows, known: Policy, engine: Any) -> tuple[Plan, ExactGroups]:
    """The plan by rows, and what the engine says."""
    question = follow_rows(text, owned.table.name)
    try:
        plan = make_plan(question, known, epsilon=_PRICE, delta=Fraction(1, 10))
    except DeniableError as problem:
        first = str(problem).split("\n")[0]
        own = owned.table.name
        why = explain_refusal(question, own, known.tables, owned.private, first)
        raise DeniableError(why) from None
    return plan, engine.run(plan).reveal_to(lambda groups: groups)


def _join(
    answers: Sequence[SplitAnswer], many: int, skipped: Sequence[tuple[str, str]]
) -> Contributions:
    sums = {
        number: scaled_vector
        for answer in answers
        for number, scaled_vector in answer.sums.items()
    }
    vectors = [vector for vector, _ in sums.values()]
    return Contributions(
        numbers=tuple(sums),
        vectors=np.stack(vectors) if vectors else np.zeros((0, many), dtype=np.int64),
        scales=tuple(scale for _, scale in sums.values()),
        skipped=tuple(skipped),
        averages=tuple(average for answer in answers for average in answer.averages),
        lone=tuple(number for answer in answers for number in answer.lone),
    )


def _policy(owned: OwnedRows, rows: "pa.Table") -> Policy:
    """A policy in which each row is a unit that may count in many groups, many times in each:
    exact answers are not limited."""
    own = Table(
        owned.table.name,
        rows,
        unit=UNIT,
        columns=owned.table.columns,
        max_groups_per_unit=_MANY,
        max_rows_per_unit_per_group=_MANY,
    )
    return Policy([own, *owned.beside], epsilon=_PRICE, delta=Fraction(1, 2))
