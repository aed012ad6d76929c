"""A toy domain of three columns: all of its records, and what a unit of several rows adds.

The integers come from the engine: each record is a table of one row, and the statement of a
step runs on it. A step's sums are additive over rows, so a unit adds the sum of what its
records add.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product

import duckdb
import numpy as np
import pyarrow as pa

from deniable.learn.measure.training import TrainingRun
from deniable.query.statements.row_integers import evaluate
from tests.engines.steps import inlined

COLOURS, AGES, CLASSES = ("red", "blue"), (0.0, 4.0, 9.0), ("no", "yes")
RECORDS = list(product(COLOURS, AGES, CLASSES))
DECLARED = {
    "keys": {"colour": list(COLOURS)},
    "bounds": {"age": (0, 9)},
    "cuts": {"age": [3, 6]},
}


def frame(times: int = 3, *, people: int | None = None) -> pa.Table:
    """Every record some times; with `people`, each row belongs to one of them."""
    rows = [record for record in RECORDS for _ in range(times)]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("colour", "age"))}
    if people is not None:
        columns["person"] = [i % people for i in range(len(rows))]
    return pa.table(columns)


def target(times: int = 3, classes: tuple[object, ...] = CLASSES) -> list[object]:
    """The class of each row of `frame`."""
    return [classes[CLASSES.index(record[2])] for record in RECORDS for _ in range(times)]


@dataclass
class Asked:
    """A step as it was asked: its program, its plan, and what it declares."""

    program: object
    plan: object
    l1: int
    l2_squared: int
    rows: int
    neighbors: str

    @property
    def gaussian(self) -> bool:
        return hasattr(self.plan.blocks[0].mechanism, "variance")


def watch(monkeypatch) -> list[Asked]:
    """Notes every step that is asked from here on."""
    steps: list[Asked] = []
    step = TrainingRun.step

    def noting(self, program, about, **price):
        result = step(self, program, about, **price)
        planner, plan = self.training.planner, self.releases[-1].plan
        both = planner.sensitivities(program)
        rows = planner.max_rows_per_unit
        steps.append(Asked(program, plan, *both, rows, plan.neighbors))
        return result

    monkeypatch.setattr(TrainingRun, "step", noting)
    return steps


def vectors_of(step: Asked, classes: tuple[object, ...] = CLASSES) -> list[np.ndarray]:
    """What each record adds, by the engine that runs the step's statement on it alone."""
    statement = inlined(step.plan).replace("$salt", "0")
    vectors = []
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for colour, age, label in RECORDS:
            own = {"colour": [colour], "age": [age], "person": [1]}
            own["target"] = [classes[CLASSES.index(label)]]
            connection.register("data", pa.table(own))
            rows = connection.execute(statement).fetchall()
            connection.unregister("data")
            sums = np.zeros((step.program.size, len(step.program.values)), dtype=object)
            for row in rows:
                place, values = (row[0], row[1:]) if step.program.places else (0, row)
                sums[place] = [value or 0 for value in values]
            vectors.append(sums.ravel())
    return vectors


def in_python(step: Asked, codes: np.ndarray) -> np.ndarray:
    """The same sums of rows whose cells are given, computed in Python."""
    rows = {f"c{i}": codes[:, i] for i in range(codes.shape[1])}
    named = evaluate(step.program.levels, rows)
    sums = np.zeros((step.program.size, len(step.program.values)), dtype=np.int64)
    values = [value.evaluate(named) for value in step.program.values]
    places = [place.evaluate(named) for place in step.program.places] or [0 * codes[:, 0]]
    for place in places:
        for i, value in enumerate(values):
            np.add.at(sums[:, i], place, value)
    return sums.ravel()


def largest_share(step: Asked, vectors: list[np.ndarray]) -> float:
    """The most that one unit moves the step, as a share of what is declared. All units of up to
    the declared number of rows are compared, with none and with each other."""
    size = len(vectors[0])
    units = [np.zeros(size, dtype=object)]
    for count in range(1, step.rows + 1):
        for chosen in combinations_with_replacement(range(len(vectors)), count):
            units.append(sum(vectors[i] for i in chosen))
    stack = np.array(units, dtype=np.float64)
    before = stack if step.neighbors == "replace" else stack[:1]
    worst = 0.0
    for unit in before:
        gap = stack - unit
        if step.gaussian:
            moved, declared = float((gap**2).sum(axis=1).max()), step.l2_squared
            worst = max(worst, (moved / declared) ** 0.5)
        else:
            worst = max(worst, float(np.abs(gap).sum(axis=1).max()) / step.l1)
    return worst


def declared_covers(step: Asked) -> bool:
    """Whether the noise was made for what is declared."""
    mechanism = step.plan.blocks[0].mechanism
    if step.gaussian:
        return Fraction(mechanism.sensitivity) ** 2 >= step.l2_squared
    return Fraction(mechanism.sensitivity) >= step.l1
