"""A fitted model as one SQL expression: scores where the data is, without Python.

The text uses CASE, arithmetic, EXP and comparisons only, so DuckDB, PostgreSQL and SQLite read
it alike, and Spark with quotes of its own. A missing value is NULL, or NaN, as in predictions.
Numbers are compared as doubles, whatever type their column has, as in training.
"""

import re
from collections.abc import Sequence

from deniable.errors import InvalidParameter
from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.feature_cells import FeatureCells, Label
from deniable.learn.fit.linear_model import LineModel
from deniable.learn.fit.place_models import CentreModel
from deniable.learn.fit.scaled_terms import ScaledTerm

Model = CellModel | LineModel | CentreModel


_QUOTED = re.compile("\"((?:[^\"]|\"\")*)\"|'((?:[^']|'')*)'")  # a name, or a text
_ENGINES = ("duckdb", "postgresql", "sqlite", "spark")


def to_sql(model: object, label: Label = None, *, engine: str = "duckdb") -> str:
    """The expression: a probability, a predicted number, or the number of a cluster.

    For a classifier it is the probability of the class `label`, the last one unless given.
    `model` is a fitted estimator, or its `model_`. The text for DuckDB is read alike by
    PostgreSQL and SQLite; `engine="spark"` writes names and texts with Spark's quotes, where
    a name in double quotes would be a text.

    >>> import numpy as np
    >>> sex = FeatureCells("sex", "text", ("f", "m", None))
    >>> tables = (np.array([[1.0], [-1.0], [0.0]]),)
    >>> to_sql(CellModel((sex,), tables, np.zeros(1), "identity"))
    '0.0 + (CASE "sex" WHEN \\'f\\' THEN 1.0 WHEN \\'m\\' THEN -1.0 ELSE 0.0 END)'
    """
    if engine not in _ENGINES:
        raise InvalidParameter(
            f"`engine` must be one of {', '.join(_ENGINES)}. Found {engine!r}."
        )
    text = _expression(getattr(model, "model_", model), label)
    return _QUOTED.sub(_quote_for_spark, text) if engine == "spark" else text


def _quote_for_spark(match: "re.Match[str]") -> str:
    """A name or a text of the expression with Spark's quotes."""
    name, text = match.groups()
    if name is not None:
        return "`" + name.replace('""', '"').replace("`", "``") + "`"
    return "'" + text.replace("''", "'").replace("\\", "\\\\").replace("'", "\\'") + "'"


def _expression(model: object, label: Label) -> str:
    if isinstance(model, CellModel):
        return _cells_sql(model, label)
    if isinstance(model, LineModel):
        return _linear_sql(model)
    if isinstance(model, CentreModel):
        return _centres_sql(model)
    raise InvalidParameter(
        f"{type(model).__name__} has no SQL expression. Models on cells, linear models and "
        "clusters have one."
    )


def quote(name: str) -> str:
    """A column's name in double quotes.

    >>> quote('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(value: Label) -> str:
    """A value as SQL.

    >>> literal("it's"), literal(2), literal(True), literal(0.5)
    ("'it''s'", '2', 'TRUE', '0.5')
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def _number(name: str) -> str:
    """A column as a double. The type of the column may be narrower, or an exact decimal."""
    return f"({quote(name)} + 0e0)"


def _is_missing(number: str) -> str:
    """Whether a number is NULL or NaN, which is greater than every number, as -NaN is."""
    return f"{number} IS NULL OR ({number} > 0 AND 0e0 - {number} > 0)"


def _cells_sql(model: CellModel, label: Label) -> str:
    scores = [_score_sql(model, place) for place in range(len(model.intercept))]
    if model.link == "identity":
        return scores[0]
    classes = list(model.classes)
    wanted = classes[-1] if label is None else label
    if wanted not in classes:
        raise InvalidParameter(
            f"Unknown class {wanted!r}. There are: {', '.join(map(repr, classes))}."
        )
    place = classes.index(wanted)
    if model.link == "sigmoid":
        sign = "-" if place == 1 else ""
        return f"1.0 / (1.0 + EXP({sign}({scores[0]})))"
    if model.link == "softmax":
        own = scores[place]
        others = [f"EXP(({score}) - ({own}))" for i, score in enumerate(scores) if i != place]
        return f"1.0 / (1.0 + {' + '.join(others)})"
    shares = [f"(1.0 / (1.0 + EXP(-({score}))))" for score in scores]
    return f"{shares[place]} / ({' + '.join(shares)})"


def _score_sql(model: CellModel, place: int) -> str:
    parts = [repr(float(model.intercept[place]))]
    for feature, table in zip(model.features, model.tables, strict=True):
        parts.append(f"({_feature_sql(feature, [float(entry) for entry in table[:, place]])})")
    return " + ".join(parts)


def _feature_sql(feature: FeatureCells, scores: Sequence[float]) -> str:
    """The score of a row's cell."""
    other = scores[-1]
    name = _number(feature.name) if feature.kind == "number" else quote(feature.name)
    if feature.cuts:
        whens = [
            f"WHEN {name} < {_cut(feature, cut)} THEN {score!r}"
            for cut, score in zip(feature.cuts, scores, strict=False)
        ]
        absent = _is_missing(name) if feature.kind == "number" else f"{name} IS NULL"
        missing = f"WHEN {absent} THEN {other!r} " if feature.missing else ""
        return f"CASE {missing}{' '.join(whens)} ELSE {scores[len(feature.cuts)]!r} END"
    listed = zip(feature.labels, scores, strict=True)
    whens = [
        f"WHEN {literal(label)} THEN {score!r}" for label, score in listed if label is not None
    ]
    return f"CASE {_listed_value(feature)} {' '.join(whens)} ELSE {other!r} END"


def _listed_value(feature: FeatureCells) -> str:
    """A value that is compared with labels: a number within its bounds, as in training."""
    if feature.kind != "number":
        return quote(feature.name)
    name = _number(feature.name)
    if feature.bounds is None:
        return name
    low, high = (literal(_plain(end)) for end in feature.bounds)
    value = f"CASE WHEN {_is_missing(name)} THEN NULL WHEN {name} < {low} THEN {low} "
    return f"({value}WHEN {name} > {high} THEN {high} ELSE {name} END)"


def _cut(feature: FeatureCells, cut: float | str) -> str:
    return f"DATE {literal(cut)}" if isinstance(cut, str) else repr(cut)


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() else value


def _linear_sql(model: LineModel) -> str:
    parts = [repr(model.intercept)]
    for term, own in zip(model.terms, model.coefficients.tolist(), strict=True):
        parts.append(f"{own!r} * {_term_sql(term)}")
    total, (low, high) = " + ".join(parts), model.limits
    return (
        f"CASE WHEN {total} < {low!r} THEN {low!r} WHEN {total} > {high!r} THEN {high!r} "
        f"ELSE {total} END"
    )


def _term_sql(term: ScaledTerm) -> str:
    """A term in the column's own units, clipped to its bounds."""
    if term.cells is not None:
        value = literal(term.cells.labels[term.code])
        return f"(CASE WHEN {_listed_value(term.cells)} = {value} THEN 1.0 ELSE 0.0 END)"
    name = _number(term.column)
    low, high = term.middle - term.half, term.middle + term.half
    return (
        f"(CASE WHEN {_is_missing(name)} THEN {term.middle!r} WHEN {name} < {low!r} "
        f"THEN {low!r} WHEN {name} > {high!r} THEN {high!r} ELSE {name} END)"
    )


def _centres_sql(model: CentreModel) -> str:
    """The number of the nearest centre; of equal ones, the first."""
    far = []
    for centre in model.centres.tolist():
        parts = [
            f"(({_term_sql(term)} - {term.middle!r}) / {term.half!r} - {own!r})"
            for term, own in zip(model.terms, centre, strict=True)
        ]
        far.append(" + ".join(f"{part} * {part}" for part in parts))
    whens = []
    for place, own in enumerate(far[:-1]):
        tests = [f"{own} <= {other}" for other in far[place + 1 :]]
        whens.append(f"WHEN {' AND '.join(tests)} THEN {place}")
    return f"CASE {' '.join(whens)} ELSE {len(far) - 1} END" if whens else "0"
