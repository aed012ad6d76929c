"""What a device sends: one report, as canonical JSON of the same length for all answers.

    {"v":1,"s":"<hash of the manifest>","a":[["doping","1"],["sport","0010010"]]}

Every question of the manifest is listed, in its order. A report is text of a fixed width: a
number with leading zeros, or a 0 or 1 for each box. A question that was not asked is a row of
hyphens. So neither what is listed nor how long it is depends on an answer.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidData
from deniable.exact.foreign_text import read_json
from deniable.mechanisms.local.bit_rows import pack_row, unpack_row

_NOT_ASKED = "-"


@dataclass(frozen=True, slots=True)
class ReportField:
    """How the report of one question is written.

    It has `boxes` digits of 0 and 1, or else a number below `values`. `packed` boxes are handed
    on as bytes, as `OUE` reads them. A public number is a place on the grid from `low` by
    `step`; the place after the last is "prefer not to say".

    >>> field = ReportField("age", values=12)
    >>> field.write(7), field.read("07"), field.read("12")
    ('07', 7, None)
    """

    name: str
    values: int = 2
    boxes: int = 0
    packed: bool = False
    low: Fraction | None = None
    step: Fraction = Fraction(1)
    declines: bool = False

    @property
    def width(self) -> int:
        """How many characters it takes."""
        return self.boxes or len(str(self.values - 1))

    def write(self, report: Any) -> str:
        """The text of a report."""
        if self.boxes:
            bits = unpack_row(report, self.boxes) if self.packed else list(report)
            return "".join(str(int(bit)) for bit in bits)
        number = int(report) if self.low is None else self._place(report)
        return f"{number:0{self.width}}"

    def read(self, text: str) -> Any:
        """The report; None if the text is not one of this question."""
        if len(text) != self.width or not (text.isascii() and text.isdigit()):
            return None
        if self.boxes:
            bits = [int(digit) for digit in text]
            if max(bits) > 1:
                return None
            return list(pack_row(bits)) if self.packed else bits
        number = int(text)
        if number >= self.values:
            return None
        if self.low is None:
            return number
        if self.declines and number == self.values - 1:
            return _DECLINED
        return float(self.low + number * self.step)

    def _place(self, report: Any) -> int:
        assert self.low is not None
        if report is _DECLINED or report != report:  # nan declines
            return self.values - 1
        return round((Fraction(report) - self.low) / self.step)


_DECLINED = "declined"  # of a public number: the row has no number then


def write_body(digest: str, fields: Sequence[ReportField], reports: dict[str, Any]) -> bytes:
    """The bytes that a device sends."""
    answers = [
        [field.name, field.write(reports[field.name])]
        if field.name in reports
        else [field.name, _NOT_ASKED * field.width]
        for field in fields
    ]
    body = {"v": 1, "s": digest, "a": answers}
    return json.dumps(body, separators=(",", ":")).encode("ascii")


def read_body(digest: str, fields: Sequence[ReportField], body: bytes) -> dict[str, Any]:
    """The reports in a body. Refuses anything but the canonical bytes of a report.

    >>> fields = [ReportField("a"), ReportField("b", boxes=3)]
    >>> read_body("0f", fields, write_body("0f", fields, {"b": [0, 1, 1]}))
    {'b': [0, 1, 1]}
    """
    if len(body) != len(write_body(digest, fields, {})):
        raise _refuse("its length is not that of a report of this survey")
    try:
        content = read_json(body)
    except ValueError as problem:
        raise _refuse(str(problem)) from None
    answers = content.get("a") if isinstance(content, dict) else None
    if not isinstance(answers, list) or len(answers) != len(fields):
        raise _refuse("it does not list every question")
    reports: dict[str, Any] = {}
    for field, answer in zip(fields, answers, strict=True):
        if not isinstance(answer, list) or len(answer) != 2 or not isinstance(answer[1], str):
            raise _refuse("an answer is not a pair of a question and a text")
        if answer[1] == _NOT_ASKED * field.width:
            continue
        report = field.read(answer[1])
        if report is None:
            raise _refuse(f"{field.name} has no such report")
        reports[field.name] = report
    if write_body(digest, fields, reports) != body:
        raise _refuse("it is of another survey, or not in canonical form")
    return {name: report for name, report in reports.items() if report is not _DECLINED}


def _refuse(why: str) -> InvalidData:
    return InvalidData(f"The report is refused: {why}.")
