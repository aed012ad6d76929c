"""A fitted model as a document for JSON, and back. Nothing in a document is executed.

Numbers are written so that they are read back exactly. Every field is checked when it is read:
its kind, its size and its range. An unknown field, kind or version is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.learn.fit.cell_model import CellModel, Link
from deniable.learn.fit.feature_cells import FeatureCells
from deniable.learn.fit.linear_fit import LinearFit
from deniable.learn.fit.linear_model import LinearModel, LineModel
from deniable.learn.fit.noisy_moments import NoisyMoments
from deniable.learn.fit.place_models import AxesModel, CentreModel
from deniable.learn.fit.principal_axes import PrincipalAxes
from deniable.learn.fit.scaled_terms import ScaledTerm

Model: TypeAlias = CellModel | LineModel | CentreModel | AxesModel
Fields: TypeAlias = Mapping[str, Any]

_MOST_CELLS, _MOST_TERMS, _LONGEST = 10_000, 1_000, 10_000
_LARGEST = 1.7e308


def write_model(model: object) -> dict[str, Any]:
    """The model as lists, texts and numbers.

    >>> sex = FeatureCells("sex", "text", ("f", None))
    >>> model = CellModel((sex,), (np.array([[1.0], [0.5]]),), np.zeros(1), "identity")
    >>> write_model(model)["features"][0]["table"]
    [[1.0], [0.5]]
    """
    if isinstance(model, CellModel):
        pairs = zip(model.features, model.tables, strict=True)
        features = [
            _write_cells(feature) | {"table": table.tolist()} for feature, table in pairs
        ]
        return {
            "kind": "cells",
            "link": model.link,
            "classes": list(model.classes),
            "intercept": model.intercept.tolist(),
            "features": features,
        }
    if isinstance(model, LineModel):
        return _write_line(model)
    if isinstance(model, CentreModel):
        terms = [_write_term(term) for term in model.terms]
        return {"kind": "centres", "terms": terms, "centres": model.centres.tolist()}
    if isinstance(model, AxesModel):
        axes = model.axes
        return {
            "kind": "axes",
            "terms": [_write_term(term) for term in model.terms],
            "mean": axes.mean.tolist(),
            "axes": axes.axes.tolist(),
            "variances": axes.variances.tolist(),
            "total_variance": axes.total_variance,
            "rows": axes.rows,
            "scaled": model.scaled,
            "margin": model.margin,
        }
    raise InvalidData(f"{type(model).__name__} cannot be written to a model file.")


def read_model(document: Any) -> Model:
    """The model of a document. Raises InvalidData, which says what is wrong."""
    fields = _fields(document, "model")
    kind = fields.get("kind")
    readers: dict[str, Callable[[Fields], Model]] = {
        "cells": _read_cell_model,
        "linear": _read_linear_model,
        "line": _read_line,
        "centres": _read_centres,
        "axes": _read_axes,
    }
    if not isinstance(kind, str) or kind not in readers:
        raise InvalidData(f"The model's kind must be one of {', '.join(readers)}.")
    return readers[kind](fields)


def _write_line(model: LineModel) -> dict[str, Any]:
    terms = [_write_term(term) for term in (*model.terms, model.target)]
    if not isinstance(model, LinearModel):
        own = model.coefficients.tolist()
        return {
            "kind": "line",
            "terms": terms,
            "coefficients": own,
            "intercept": model.intercept,
        }
    return {
        "kind": "linear",
        "terms": terms,
        "coefficients": model.coefficients.tolist(),
        "intercept": model.intercept,
        "moments": model.fit.moments.matrix.tolist(),
        "deviation": model.fit.moments.deviation,
        "penalties": list(model.fit.penalties),
        "least": model.fit.least,
    }


def _write_cells(cells: FeatureCells) -> dict[str, Any]:
    return {
        "name": cells.name,
        "kind": cells.kind,
        "labels": list(cells.labels),
        "cuts": list(cells.cuts),
        "bounds": None if cells.bounds is None else list(cells.bounds),
    }


def _write_term(term: ScaledTerm) -> dict[str, Any]:
    if term.cells is not None:
        return {"column": term.column, "cells": _write_cells(term.cells), "code": term.code}
    return {"column": term.column, "middle": term.middle, "half": term.half}


def _read_cell_model(fields: Fields) -> CellModel:
    _only(fields, "kind", "link", "classes", "intercept", "features")
    link = fields["link"]
    if not isinstance(link, str) or link not in get_args(Link):
        raise InvalidData(f"The model's link must be one of {', '.join(get_args(Link))}.")
    intercept = numbers(fields["intercept"], "intercept", 1)
    classes = _labels(fields["classes"], "classes")
    size = {"sigmoid": 1, "identity": 1}.get(link, len(classes))
    enough = link == "identity" or (len(classes) >= 2 and None not in classes)
    if len(intercept) != size or not enough or (link == "sigmoid" and len(classes) != 2):
        raise InvalidData("The model's classes do not fit its link and its intercept.")
    features, tables = [], []
    for feature in _listed(fields["features"], "features", _MOST_TERMS):
        own = dict(_fields(feature, "feature"))
        table = numbers(own.pop("table", None), "table", 2)
        cells = _read_cells(own)
        if table.shape != (cells.size, len(intercept)):
            raise InvalidData(f"The table of {cells.name!r} does not fit its cells.")
        features.append(cells)
        tables.append(table)
    if len({feature.name.lower() for feature in features}) < len(features) or not features:
        raise InvalidData("The model needs features with different names.")
    return CellModel(tuple(features), tuple(tables), intercept, link, classes)  # type: ignore[arg-type]


def _read_cells(fields: Fields) -> FeatureCells:
    _only(fields, "name", "kind", "labels", "cuts", "bounds")
    name, kind = text(fields["name"], "name"), fields["kind"]
    if kind not in ("number", "text", "boolean", "date"):
        raise InvalidData(f"The kind of {name!r} is not known.")
    labels = _labels(fields["labels"], "labels")
    if not labels or None in labels[:-1]:
        raise InvalidData(f"The labels of {name!r} need one or more cells, None at the end.")
    cuts = tuple(_listed(fields["cuts"], "cuts", _MOST_CELLS))
    bounds = fields["bounds"]
    if bounds is not None:
        low, high = numbers(bounds, "bounds", 1, size=2).tolist()
        bounds = (low, high)
        if low > high:
            raise InvalidData(f"The bounds of {name!r} do not increase.")
    if cuts:
        wanted = str if kind == "date" else float
        read = [text(cut, "cut") if wanted is str else number(cut, "cut") for cut in cuts]
        fits = len(labels) - (labels[-1] is None) == len(read) + 1
        if kind not in ("number", "date") or read != sorted(set(read)) or not fits:
            raise InvalidData(f"The cuts of {name!r} must increase, and fit its labels.")
        cuts = tuple(read)
    return FeatureCells(name, kind, labels, cuts, bounds)


def _read_terms(document: Any) -> tuple[ScaledTerm, ...]:
    return tuple(_read_term(term) for term in _listed(document, "terms", _MOST_TERMS))


def _read_term(document: Any) -> ScaledTerm:
    fields = _fields(document, "term")
    column = text(fields.get("column"), "column")
    if "cells" in fields:
        _only(fields, "column", "cells", "code")
        cells, code = _read_cells(_fields(fields["cells"], "cells")), fields["code"]
        if type(code) is not int or not 0 <= code < cells.size:
            raise InvalidData(f"A term of {column!r} is about a cell that does not exist.")
        return ScaledTerm(column, cells=cells, code=code)
    _only(fields, "column", "middle", "half")
    half = number(fields["half"], "half")
    if half <= 0:
        raise InvalidData(f"The range of {column!r} must be above zero.")
    return ScaledTerm(column, number(fields["middle"], "middle"), half)


def _read_linear_model(fields: Fields) -> LinearModel:
    names = ("coefficients", "intercept", "moments", "deviation", "penalties", "least")
    _only(fields, "kind", "terms", *names)
    terms = _read_terms(fields["terms"])
    size = len(terms) + 1
    moments = numbers(fields["moments"], "moments", 2, size=size)
    penalties = numbers(fields["penalties"], "penalties", 1, size=size - 1)
    deviation, least = (number(fields[name], name) for name in ("deviation", "least"))
    fits = moments.shape == (size, size) and np.array_equal(moments, moments.T)
    if len(terms) < 2 or not fits or min(deviation, least, *penalties.tolist()) < 0:
        raise InvalidData("The moments and penalties of the model do not fit its terms.")
    fit = LinearFit(NoisyMoments(moments, deviation), tuple(penalties.tolist()), least)
    model = LinearModel.of(fit, terms[:-1], terms[-1])
    own = numbers(fields["coefficients"], "coefficients", 1, size=size - 2)
    written = replace(
        model, coefficients=own, intercept=number(fields["intercept"], "intercept")
    )
    if not model.agrees_with(written):
        raise InvalidData(
            "The coefficients of the model do not follow from its moments: they were edited, "
            "and their intervals would be about others."
        )
    return written


def _read_line(fields: Fields) -> LineModel:
    _only(fields, "kind", "terms", "coefficients", "intercept")
    terms = _read_terms(fields["terms"])
    own = numbers(fields["coefficients"], "coefficients", 1, size=len(terms) - 1)
    if len(terms) < 2:
        raise InvalidData("A line needs a term, and the target.")
    return LineModel(terms[:-1], terms[-1], own, number(fields["intercept"], "intercept"))


def _read_centres(fields: Fields) -> CentreModel:
    _only(fields, "kind", "terms", "centres")
    terms, centres = _read_terms(fields["terms"]), numbers(fields["centres"], "centres", 2)
    if not terms or not len(centres) or centres.shape[1] != len(terms):
        raise InvalidData("The centres of the model do not fit its terms.")
    return CentreModel(terms, centres)


def _read_axes(fields: Fields) -> AxesModel:
    names = ("mean", "axes", "variances", "total_variance", "rows", "scaled", "margin")
    _only(fields, "kind", "terms", *names)
    terms = _read_terms(fields["terms"])
    mean = numbers(fields["mean"], "mean", 1, size=len(terms))
    axes = numbers(fields["axes"], "axes", 2)
    variances = numbers(fields["variances"], "variances", 1, size=len(axes))
    total, rows, margin = (
        number(fields[name], name) for name in ("total_variance", "rows", "margin")
    )
    if not terms or axes.shape[1] != len(terms) or type(fields["scaled"]) is not bool:
        raise InvalidData("The axes of the model do not fit its terms.")
    principal_axes = PrincipalAxes(mean, axes, variances, total, rows)
    return AxesModel(terms, principal_axes, fields["scaled"], margin)


# Parts of documents that anyone may have written.


def number(value: Any, name: str) -> float:
    """A finite number."""
    if type(value) not in (int, float) or not abs(value) <= _LARGEST:
        raise InvalidData(f"`{name}` must be a number that is not too large.")
    return float(value)


def text(value: Any, name: str) -> str:
    """A text that is not too long."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST:
        raise InvalidData(f"`{name}` must be a text that is not too long.")
    return value


def numbers(
    value: Any, name: str, dimensions: int, size: int | None = None
) -> NDArray[np.float64]:
    """A list of numbers, or of rows of equal length."""
    rows = _listed(value, name, _MOST_CELLS)
    if dimensions == 2:
        read = [numbers(row, name, 1) for row in rows]
        if len({len(row) for row in read}) > 1 or not read:
            raise InvalidData(f"The rows of `{name}` must have equal lengths.")
        array = np.stack(read)
    else:
        array = np.array([number(entry, name) for entry in rows], dtype=np.float64)
    if size is not None and len(array) != size:
        raise InvalidData(f"`{name}` must have {size} entries. Found {len(array)}.")
    return array


def _labels(value: Any, name: str) -> tuple[Any, ...]:
    labels = tuple(_listed(value, name, _MOST_CELLS))
    for label in labels:
        if isinstance(label, float | int) and not isinstance(label, bool):
            number(label, name)
        elif not (label is None or isinstance(label, bool | str)):
            raise InvalidData(f"`{name}` must be texts, numbers or truth values.")
    if len({(type(label), label) for label in labels}) < len(labels):
        raise InvalidData(f"`{name}` has a value twice.")
    return labels


def _listed(value: Any, name: str, most: int) -> Sequence[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise InvalidData(f"`{name}` must be a list of at most {most:,} entries.")
    return value


def _fields(value: Any, name: str) -> Fields:
    if not isinstance(value, dict):
        raise InvalidData(f"The {name} must be an object with named fields.")
    return value


def _only(fields: Fields, *names: str) -> None:
    if set(fields) != set(names):
        wrong = sorted(set(fields) ^ set(names))[0]
        raise InvalidData(f"The field `{str(wrong)[:40]}` is missing, unknown or misplaced.")
