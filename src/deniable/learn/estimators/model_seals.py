"""The seal of a model: a signature over its numbers, beside the certificates of its steps.

A certificate signs what one step released. What a training makes of these numbers is the model,
and the ledger that paid for the training signs that too, as soon as it ends. So a number that
is changed later no longer fits.
"""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from deniable.errors import InvalidData
from deniable.learn.exports.model_document import write_model
from deniable.ledger.ledger import Ledger
from deniable.ledger.stores.signing_keys import signature_is_valid
from deniable.release.certificate.certificate import Certificate

_SEAL = re.compile("[0-9a-f]{128}")
_PURPOSE = "deniable model 1\n"  # no other signed message begins like this


@dataclass(frozen=True, slots=True)
class SealedModel:
    """What is signed: a model, whose it is, its price and the certificates of its steps."""

    estimator: str
    epsilon: str
    delta: str
    neighbors: str
    model: object
    certificates: tuple[Certificate, ...]

    @classmethod
    def of(cls, estimator: Any) -> "SealedModel":
        """What the seal of a fitted estimator signs."""
        return cls(
            estimator=type(estimator).__name__,
            epsilon=str(estimator.price_[0]),
            delta=str(estimator.price_[1]),
            neighbors=estimator.neighbors_,
            model=estimator.model_,
            certificates=tuple(estimator.certificates_),
        )

    def sign(self, ledger: Ledger) -> str:
        """The signature by the ledger that paid for the training."""
        return ledger.sign(self._message())

    def is_signed(self, seal: str, key: str) -> bool:
        """Whether the seal is the signature with this key."""
        return signature_is_valid(self._message(), seal, key)

    def _message(self) -> bytes:
        facts = {
            "estimator": self.estimator,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbors": self.neighbors,
            "model": write_model(self.model),
            "steps": [certificate.signature for certificate in self.certificates],
        }
        # A training that is paid for must not fail here: `save` refuses what is not JSON.
        text = json.dumps(facts, sort_keys=True, default=str, separators=(",", ":"))
        return f"{_PURPOSE}{sha256(text.encode()).hexdigest()}".encode("ascii")


def read_seal(value: Any) -> str | None:
    """The seal in a model file: hexadecimal text, or null in a file without certificates."""
    if value is None:
        return None
    if not isinstance(value, str) or _SEAL.fullmatch(value) is None:
        raise InvalidData("The seal of a model must be 128 hexadecimal digits, or null.")
    return value
