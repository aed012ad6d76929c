"""Saving a fitted estimator and loading it again: JSON, no pickle.

A file holds released numbers: the model, its price, the relation, the signed certificates of
its steps, and the seal that signs all of it. Loading runs nothing that is in the file. What
comes back predicts as before; to train it again, give it data.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.foreign_text import read_json, read_rational
from deniable.learn.estimators.classifier import not_fitted
from deniable.learn.estimators.model_seals import read_seal
from deniable.learn.estimators.private_estimator import PrivateEstimator, gaussian_loss
from deniable.learn.exports.model_document import Fields, read_model, write_model
from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.linear_model import LinearModel, LineModel
from deniable.learn.fit.place_models import AxesModel, CentreModel
from deniable.privacy import PureLoss
from deniable.release.certificate.certificate import Certificate

FORMAT, VERSION = "deniable model", 1
_ROOM = "deniable.learn.estimators"
_PLACES: dict[str, tuple[str, type]] = {
    "AdditiveModel": (f"{_ROOM}.additive_model", CellModel),
    "AdditiveRegressor": (f"{_ROOM}.additive_regressor", CellModel),
    "KMeans": (f"{_ROOM}.clusters", CentreModel),
    "LinearRegression": (f"{_ROOM}.linear_regression", LinearModel),
    "LogisticRegression": (f"{_ROOM}.logistic_regression", CellModel),
    "NaiveBayes": (f"{_ROOM}.naive_bayes", CellModel),
    "PCA": (f"{_ROOM}.components", AxesModel),
    "Ridge": (f"{_ROOM}.linear_regression", LinearModel),
    "RobustSlope": (f"{_ROOM}.robust_slope", LineModel),
}


def save(estimator: PrivateEstimator, path: str | Path, *, certificates: bool = True) -> Path:
    """Writes a fitted estimator to a file. It costs nothing: all of it is released.

    Without `certificates` the file is smaller, and does not show what was signed.
    """
    target = Path(path)
    written = to_document(estimator, certificates=certificates)
    text = json.dumps(written, allow_nan=False) + "\n"
    read_model(json.loads(text)["model"])  # refuses what nobody could load
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(
            f"The model cannot be written to {str(target)!r}: {error.strerror or error}. Give "
            "a path in a folder that you may write to."
        ) from error
    return target


def to_document(estimator: PrivateEstimator, *, certificates: bool = True) -> dict[str, Any]:
    """What `save` writes, as a dictionary for JSON."""
    name = type(estimator).__name__
    if name not in _PLACES:
        raise InvalidParameter(f"{name} cannot be saved. These can: {', '.join(_PLACES)}.")
    if not hasattr(estimator, "model_"):
        raise not_fitted(estimator)
    signed = estimator.certificates_ if certificates else ()
    return {
        "format": FORMAT,
        "version": VERSION,
        "estimator": name,
        "epsilon": str(estimator.price_[0]),
        "delta": str(estimator.price_[1]),
        "neighbors": estimator.neighbors_,
        "model": write_model(estimator.model_),
        "certificates": [certificate.to_dict() for certificate in signed],
        "seal": estimator.seal_ if signed else None,
    }


def load(path: str | Path) -> PrivateEstimator:
    """The fitted estimator of a file that `save` wrote.

    The file may come from anybody: all of it is checked, and nothing in it is run. Whether its
    numbers are right is another question: `verify` asks the certificates and the seal.
    """
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise InvalidParameter(
            f"The model {str(path)!r} cannot be read: {error.strerror or error}."
        ) from error
    try:
        document = read_json(source)
    except ValueError as problem:
        raise InvalidData(f"This is not a model file: {problem}.") from None
    return from_document(document)


def from_document(document: Any) -> PrivateEstimator:
    """The fitted estimator of a document; every field is checked."""
    fields = _check_format(document)
    name = fields["estimator"]
    if not isinstance(name, str) or name not in _PLACES:
        raise InvalidData(f"The estimator must be one of {', '.join(_PLACES)}.")
    place, kind = _PLACES[name]
    model = read_model(fields["model"])
    if type(model) is not kind:
        raise InvalidData(f"The model in the file is not one of {name}.")
    if isinstance(model, CellModel) and (name == "AdditiveRegressor") != (
        model.link == "identity"
    ):
        raise InvalidData(f"The link of the model in the file does not fit {name}.")
    try:
        price = read_rational(fields["epsilon"]), read_rational(fields["delta"])
    except ValueError as problem:
        raise InvalidData(f"The model's price is not readable: {problem}.") from None
    if not (price[0] > 0 and 0 <= price[1] < 1):
        raise InvalidData("The model's epsilon must be above 0, its delta from 0 to below 1.")
    neighbors = fields["neighbors"]
    if neighbors not in ("add-remove", "replace"):
        raise InvalidData('`neighbors` must be "add-remove" or "replace".')
    signed = fields["certificates"]
    if not isinstance(signed, list):
        raise InvalidData("`certificates` must be a list.")
    kind_of = getattr(import_module(place), name)
    arguments: dict[str, Any] = {"epsilon": price[0], "neighbors": neighbors}
    if "delta" in kind_of._parameters():
        arguments["delta"] = price[1]
    elif price[1]:
        raise InvalidData(f"{name} has no delta, and the model file has one.")
    estimator: PrivateEstimator = kind_of(**arguments)
    estimator.price_, estimator.neighbors_ = price, neighbors
    estimator.loss_ = gaussian_loss(*price) if price[1] else PureLoss(price[0])
    estimator.signed_ = tuple(Certificate.from_dict(certificate) for certificate in signed)
    estimator.seal_ = read_seal(fields["seal"])
    estimator.adopt(model)
    return estimator


def _check_format(document: Any) -> Fields:
    keys = {"format", "version", "estimator", "epsilon", "delta", "neighbors", "model"}
    keys |= {"certificates", "seal"}
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidData(f'This is not a model file: its format is not "{FORMAT}".')
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise InvalidData(
            f"The model file has version {str(version)[:20]}, and this release reads version "
            f"{VERSION}. Install a newer release of Deniable to read newer files."
        )
    if set(document) != keys:
        raise InvalidData("The model file lacks a field, or has one too many.")
    return document
