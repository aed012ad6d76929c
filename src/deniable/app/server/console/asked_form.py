"""The form of the Ask page: its fields, and the request to the server that they make.

A question starts from accuracy: `by` says which of the linked fields counts: the margin, the
epsilon, or one of five stops from private to precise. SQL travels in a body, never in an
address.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter
from deniable.privacy.losses.loss_in_words import STOPS

BY = ("margin", "epsilon", "stop")
CONFIDENCES = ("0.9", "0.95", "0.99")
_LONGEST_NUMBER = 40
_NUMBER = re.compile(r"\d{1,20}(\.\d{1,20})?|\d{1,20}/0*[1-9]\d{0,19}", re.ASCII)


@dataclass(frozen=True, slots=True)
class AskedForm:
    """What was filled in; the fields that do not count are what they came to.

    >>> AskedForm("SELECT 1", by="stop", stop=1).request()["epsilon"]
    '953/10000'
    """

    sql: str = ""
    by: str = "margin"
    margin: str = ""
    epsilon: str = ""
    stop: int = 3
    confidence: str = "0.95"
    expects: str = ""  # the hash of the plan whose price was shown
    question_id: str = ""

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> "AskedForm":
        """The fields of a form; unknown choices become the usual ones."""
        by, stop = fields.get("by", ""), fields.get("stop", "")
        confidence = fields.get("confidence", "")
        return cls(
            sql=fields.get("sql", "").replace("\r\n", "\n"),
            by=by if by in BY else "margin",
            margin=fields.get("margin", "").strip()[:_LONGEST_NUMBER],
            epsilon=fields.get("epsilon", "").strip()[:_LONGEST_NUMBER],
            stop=int(stop) if stop in ("1", "2", "3", "4", "5") else 3,
            confidence=confidence if confidence in CONFIDENCES else "0.95",
            expects=fields.get("expects", "")[:64],
            question_id=fields.get("question_id", "")[:64],
        )

    def with_sql(self, sql: str) -> "AskedForm":
        """The same form about another question."""
        return replace(self, sql=sql, expects="", question_id="")

    def request(self) -> dict[str, Any]:
        """The request as the server's interface reads it."""
        if not self.sql:
            raise InvalidParameter(
                "The question is empty. Write SQL, or let the form below write it."
            )
        request: dict[str, Any] = {
            "sql": self.sql,
            "confidence": _exact(self.confidence, "confidence"),
        }
        if self.by == "margin":
            request["margin"] = _exact(self.margin, "margin")
        elif self.by == "epsilon":
            request["epsilon"] = _exact(self.epsilon, "epsilon")
        else:
            request["epsilon"] = str(STOPS[self.stop - 1].epsilon)
        return request

    def body(self, **more: Any) -> bytes:
        """The same as the bytes of a request."""
        return json.dumps(self.request() | more).encode()


def _exact(text: str, name: str) -> str:
    """A number that a person typed, as the server's interface takes it.

    >>> _exact("0.5", "margin"), _exact("1/3", "margin")
    ('1/2', '1/3')
    """
    if not _NUMBER.fullmatch(text):
        raise InvalidParameter(f"Write the {name} as a number, such as 20 or 0.5.")
    return str(Fraction(text))
