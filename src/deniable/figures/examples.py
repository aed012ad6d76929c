"""Pictures of answers, copies, models and inferences about a made-up clinic."""

from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

import deniable as dp
from deniable.figures import copies, inferences, models, releases, surveys

_WARDS = ("children", "heart", "surgery", "eyes")
_SURVEY = """
id = "commute"
title = "Ways to work"
who = "The town"
why = "To plan buses and paths."
epsilon = 1.5

[[questions]]
id = "ways"
kind = "single-choice"
text = "How did you come to work today?"
options = ["on foot", "by bicycle", "by bus", "by car"]
"""
_DAYS = [(date(2026, 3, 2) + timedelta(days)).isoformat() for days in range(28)]


def clinic(rows: int = 4_000) -> pa.Table:
    """Made-up visits, always the same: the cost grows with age, and depends on the ward.

    >>> clinic(3).column_names
    ['ward', 'age', 'cost', 'again', 'day', 'sex']
    """
    chance = np.random.default_rng(29)
    age = chance.integers(0, 90, rows)
    ward = chance.choice(len(_WARDS), rows, p=(0.4, 0.3, 0.2, 0.1))
    cost = np.minimum(100 + 4 * age + 60 * ward + chance.gamma(2, 40, rows), 1000)
    again = chance.uniform(size=rows) < 0.1 + age / 150
    day = np.datetime64("2026-03-02") + chance.integers(0, 28, rows)
    columns = {
        "ward": [_WARDS[place] for place in ward],
        "age": age,
        "cost": cost.round(),
        "again": again,
        "day": day,
        "sex": chance.choice(["f", "m"], rows),
    }
    return pa.table(columns)


def protected() -> "dp.Session":
    """The clinic's table, with what is public about it."""
    return dp.protect(
        clinic(),
        name="visits",
        bounds={"cost": (0, 1000), "age": (0, 90)},
        keys={"ward": list(_WARDS), "day": _DAYS, "sex": ["f", "m"]},
        epsilon=10,
        delta=1e-6,
    )


def answer() -> Figure:
    """A mean for each ward, with margins: what `Release.plot` draws."""
    with protected() as session:
        question = "SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward"
        return releases.bars(session.sql(question, epsilon=0.2))


def bins() -> Figure:
    """A histogram of costs over declared bins."""
    return _draw("SELECT HISTOGRAM(cost, 20) AS cost FROM visits", epsilon=0.5)


def ladder() -> Figure:
    """Nine quantiles of the cost, each with its interval."""
    levels = ", ".join(f"0.{tenth}" for tenth in range(1, 10))
    return _draw(f"SELECT QUANTILE_CONT(cost, [{levels}]) AS cost FROM visits", epsilon=1)


def days() -> Figure:
    """Visits day by day."""
    return _draw("SELECT day, COUNT(*) AS visits FROM visits GROUP BY day", epsilon=0.5)


def matrix() -> Figure:
    """Visits by two keys."""
    question = "SELECT ward, sex, COUNT(*) AS visits FROM visits GROUP BY ward, sex"
    return _draw(question, epsilon=0.5)


def _draw(question: str, *, epsilon: float) -> Figure:
    with protected() as session:
        return releases.bars(session.sql(question, epsilon=epsilon))


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
        return copies.errors(
            session.copy(columns=["ward", "age", "cost", "again"], epsilon=2, method="mst")
        )


def model() -> Figure:
    """What a private model has learnt about coming again."""
    rows = clinic()
    fitted = dp.learn.NaiveBayes(epsilon=1, bounds={"age": (0, 90)}, classes=[False, True])
    fitted.fit(rows.select(["age"]), rows["again"].to_numpy(zero_copy_only=False))
    return models.shapes(fitted)


def effects() -> Figure:
    """The coefficients of a private linear regression, with their intervals."""
    rows = clinic().select(["ward", "age", "sex", "cost"])
    bounds = {"age": (0, 90), "cost": (0, 1000)}
    keys = {"ward": list(_WARDS), "sex": ["f", "m"]}
    with dp.protect(rows, bounds=bounds, keys=keys, epsilon=1, delta=1e-6) as session:
        fitted = dp.learn.Ridge(epsilon=1).fit(session.table("data"), target="cost")
    return models.coefficients(fitted)


def curve() -> Figure:
    """How well a private model ranks people: true alarms over false ones."""
    return models.roc(_evaluate())


def calibration() -> Figure:
    """Whether a private model's probabilities come true."""
    return models.calibration(_evaluate())


def _evaluate() -> Any:
    rows, bounds = clinic(), {"age": (0, 90)}
    examples = rows.select(["age"]), rows["again"].to_numpy(zero_copy_only=False)
    fitted = dp.learn.NaiveBayes(epsilon=1, bounds=bounds, classes=[False, True])
    return fitted.fit(*examples).evaluate(*examples, epsilon=0.5)


def survey() -> Figure:
    """What 2,000 phones reported, each with coins of its own."""
    questionnaire = dp.surveys.loads(_SURVEY)
    collected = dp.surveys.simulate(questionnaire, 2_000).collected
    return surveys.estimates(dp.surveys.report(questionnaire, collected).results[0])
