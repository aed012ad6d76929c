"""Steps of learning, as plans that every engine must answer with the same integers."""

from fractions import Fraction
from functools import cache

from deniable.query.planner.step_plans import StepPlanner
from deniable.query.statements.partition import hashed_column, restrict_to_part
from deniable.query.statements.row_integers import (
    Clip,
    Equals,
    LeastPlace,
    Lookup,
    Plus,
    Ref,
    Times,
    Whole,
)
from deniable.query.statements.step_statement import StepProgram
from deniable.synth.domain.column_cells import cells_of
from tests.query.hospital import policy


@cache
def steps():
    """Residuals at cells, a nearest place with sums, all products, a part by a hash."""
    plans = {}
    for person in (True, False):
        known = policy(person=person)
        table = known.tables["visits"]
        columns = [cells_of(table, name).counted for name in ("ward", "age")]
        planner = StepPlanner(known, table, columns)
        sizes = tuple(len(column.key.values) for column in columns)
        for name, program in programs(sizes).items():
            price = {"mu_squared": Fraction(1, 100), "delta": Fraction(1, 10**6)}
            plans[f"{name}, {person}"] = planner.plan_step(program, name, **price)
        if person:  # other engines cannot write doubles as DuckDB's text, which rows need
            hashed = hashed_column(table, Fraction(1, 3), "key")
            own = plans["residuals, True"]
            plans["part"] = restrict_to_part(own, table, ((hashed, "test"),))
    return plans


def inlined(plan):
    """The text of a step where the definition of its stored rows stands in the place of their
    name."""
    assert plan.stored
    return plan.engine_sql.replace('FROM "(stored rows)"', f"FROM ({plan.stored}) AS stored")


def programs(sizes):
    """Programs over two columns of cells."""
    first, second = sizes
    table = tuple((-1) ** i * 3 * i for i in range(second))
    score = Plus((Lookup(tuple(range(first)), Ref("c0")), Lookup(table, Ref("c1"))))
    residuals = (
        {"z0": score},
        {"y0": Clip(Ref("z0"), -4, 4)},
        {"s0": Lookup(tuple(range(9)), Plus((Ref("y0"), Whole(4))))},
        {"r0": Plus((Equals(Ref("c0"), 1, Whole(8), Whole(0)), Times(Ref("s0"), Whole(-1))))},
    )
    places = (Ref("c0"), Plus((Ref("c1"), Whole(first))), Whole(first + second))
    centred = {"z0": Plus((Ref("c0"), Whole(-1))), "z1": Plus((Ref("c1"), Whole(-5)))}
    far = {f"d{k}": Times(Plus((Ref("z1"), Whole(k))), Ref("z1")) for k in range(3)}
    pairs = tuple(Times(Ref(a), Ref(b)) for a in ("z0", "z1") for b in ("z0", "z1"))
    nearest = (centred, far, {"b0": LeastPlace(("d0", "d1", "d2"))})
    return {
        "residuals": StepProgram(sizes, residuals, places, (Ref("r0"),)),
        "nearest": StepProgram(sizes, nearest, (Ref("b0"),), (Whole(7), Ref("z0"), Ref("z1"))),
        "products": StepProgram(sizes, (centred,), (), pairs),
    }
