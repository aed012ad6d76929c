"""Pictures of answers, copies, models and inferences about a made-up clinic."""

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

import deniable as dp
from deniable.figures import copies, inferences, models, releases

_WARDS = ("children", "heart", "surgery", "eyes")


def clinic(rows: int = 4_000) -> pa.Table:
    """Made-up visits, always the same: the cost grows with age, and depends on the ward.

    >>> clinic(3).column_names
    ['ward', 'age', 'cost', 'again']
    """
    chance = np.random.default_rng(29)
    age = chance.integers(0, 90, rows)
    ward = chance.choice(len(_WARDS), rows, p=(0.4, 0.3, 0.2, 0.1))
    cost = np.minimum(100 + 4 * age + 60 * ward + chance.gamma(2, 40, rows), 1000)
    again = chance.uniform(size=rows) < 0.1 + age / 150
    names = [_WARDS[place] for place in ward]
    return pa.table({"ward": names, "age": age, "cost": cost.round(), "again": again})


def protected() -> "dp.Session":
    """The clinic's table, with what is public about it."""
    return dp.protect(
        clinic(),
        name="visits",
        bounds={"cost": (0, 1000), "age": (0, 90)},
        keys={"ward": list(_WARDS)},
        epsilon=10,
        delta=1e-6,
    )


def answer() -> Figure:
    """A mean for each ward, with margins: what `Release.plot` draws."""
    with protected() as session:
        question = "SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward"
        return releases.bars(session.sql(question, epsilon=0.2))


def population() -> Figure:
    """The same means as estimates for a population: noise inside, sampling error around it."""
    with protected() as session:
        question = (
            "SELECT ward, COUNT(cost) AS n, AVG(cost) AS mean, STDDEV(cost) AS spread "
            "FROM visits GROUP BY ward"
        )
        return inferences.intervals(session.sql(question, epsilon=1).population())


def copy() -> Figure:
    """How far a private copy is from the table, by its own scorecard."""
    with protected() as session:
        return copies.errors(session.copy(epsilon=2, method="mst"))


def model() -> Figure:
    """What a private model has learnt about coming again."""
    rows = clinic()
    fitted = dp.learn.NaiveBayes(epsilon=1, bounds={"age": (0, 90)}, classes=[False, True])
    fitted.fit(rows.select(["age"]), rows["again"].to_numpy(zero_copy_only=False))
    return models.shapes(fitted)
