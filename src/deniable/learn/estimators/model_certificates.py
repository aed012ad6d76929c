"""Checks the certificates and the seal in a model file: what was released for the model, its
price, and that no number was changed since.

That a model's numbers follow from the released sums is not computed again: a certificate holds
the hash of what was released, and the model what was made of it. The seal says that the ledger
which paid for the steps signed these numbers at the end of the training.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deniable.errors import InvalidCertificate
from deniable.learn.estimators.classifier import not_fitted
from deniable.learn.estimators.model_files import load
from deniable.learn.estimators.model_seals import SealedModel
from deniable.learn.estimators.private_estimator import PrivateEstimator
from deniable.release.certificate.certificate import Certificate, RunStep
from deniable.release.certificate.verification import verify as verify_step


@dataclass(frozen=True, slots=True)
class VerifiedModel:
    """A fitted estimator whose certificates hold, and the checks that they passed."""

    estimator: PrivateEstimator
    checks: tuple[str, ...]
    key: str  # of the signer
    signer_known: bool  # whether it was signed with the key that was given


def verify(model: str | Path | PrivateEstimator, *, key: str | None = None) -> VerifiedModel:
    """Checks every certificate of a fitted model, or of its file: all are of one run, with one
    key, step by step, about the same units, at the price that the model states, and that key
    signed the model's numbers.

    Raises `InvalidCertificate` at the first fault. `key` is the owner's public key; without it
    nobody knows whose key it is.

    >>> import deniable as dp
    >>> model = dp.learn.NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1])
    >>> verify(model.fit([[0.0], [1.0]], [0, 1])).checks[0]
    '1 step is certified: signature, sensitivity, noise and price'
    """
    estimator = model if isinstance(model, PrivateEstimator) else load(model)
    if not hasattr(estimator, "model_"):
        raise not_fitted(estimator)
    signed = tuple(estimator.certificates_)
    if not signed:
        raise InvalidCertificate(
            "This model has no certificates: it was saved without them, or trained in a "
            "rehearsal. Ask for a file that was saved with them."
        )
    for certificate in signed:
        verify_step(certificate.to_json(), key=key)
    _check_run(estimator, signed)
    _check_seal(estimator, signed[0].key)
    count = f"{len(signed)} step{'s are' if len(signed) > 1 else ' is'} certified"
    checks = (
        f"{count}: signature, sensitivity, noise and price",
        "all are steps of one run, which was charged at once; none before the last is missing",
        "the run cost no more than the model states, and protects the same relation of tables",
        "the model's numbers are those that were signed when the training ended",
    )
    return VerifiedModel(estimator, checks, signed[0].key, key is not None)


def _check_seal(estimator: PrivateEstimator, key: str) -> None:
    """Refuses a model whose numbers, price or steps are not those that were signed."""
    if estimator.seal_ is None or not SealedModel.of(estimator).is_signed(estimator.seal_, key):
        raise InvalidCertificate(
            "The model is not the one that was signed when its training ended: a number in it, "
            "or what it states about itself, was changed. Ask for the file as it was saved, or "
            "save an edited model with certificates=False."
        )


def _check_run(estimator: PrivateEstimator, signed: tuple[Certificate, ...]) -> None:
    """Refuses certificates that are not the steps of one run at the model's price."""
    places = [certificate.statement["ledger"] for certificate in signed]
    if any(place["run"] is None for place in places):
        raise InvalidCertificate("A certificate of this model is not of a run.")
    runs = [RunStep.from_json(place["run"]) for place in places]
    pairs = zip(places, signed, strict=True)
    own = {(place["id"], place["position"], certificate.key) for place, certificate in pairs}
    if len(own) > 1 or len({run.question for run in runs}) > 1:
        raise InvalidCertificate("The certificates of this model are of different runs.")
    if [run.step for run in runs] != list(range(1, len(runs) + 1)):
        raise InvalidCertificate("A step of this model's run is missing, or in another place.")
    epsilon, delta = estimator.price_
    if any(run.epsilon > epsilon or run.delta > delta for run in runs):
        raise InvalidCertificate("The model states a lower price than its run had.")
    facts: set[Any] = {
        (certificate.statement["neighbors"], certificate.plan.get("unit"))
        for certificate in signed
    }
    if len(facts) > 1 or {relation for relation, _ in facts} != {estimator.neighbors_}:
        raise InvalidCertificate("The model states another relation than its steps protect.")
