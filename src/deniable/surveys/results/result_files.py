"""Results as CSV and JSON, and everything that another person needs to compute them again.

`export_files` gives the reports, the manifest, a codebook, a paragraph on methods, and scripts
in Python and R that reproduce every number. A text cell of a CSV file that a spreadsheet would
take for a formula is prefixed; numbers stay numbers.
"""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from deniable.exact.foreign_text import read_rational
from deniable.surveys.estimate.unbiased_readings import reader_for, scale_reader
from deniable.surveys.estimate.within_groups import answer_channels
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion
from deniable.surveys.results.manifest_designs import design_of
from deniable.surveys.results.methods_text import methods_paragraph
from deniable.surveys.results.number_texts import round_outwards
from deniable.surveys.results.result_numbers import ResultNumber
from deniable.surveys.results.survey_results import SurveyResults

COLUMNS = (
    "rehearsal",
    "look",
    "reports",
    "question",
    "answer",
    "label",
    "share_of",
    "by",
    "group",
    "group_label",
    "n",
    "estimate",
    "low",
    "high",
    "confidence",
    "method",
    "tuning_1",
    "tuning_2",
    "one_false_report",
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_DECIMALS = 6
_SCRIPTS = Path(__file__).parent / "scripts"


def results_csv(results: SurveyResults) -> str:
    """One line for each number. A rehearsal says so on every line."""
    return _write_csv(COLUMNS, (row.values() for row in _rows(results)))


def results_json(results: SurveyResults) -> str:
    """All numbers, with what a reader must know first."""
    manifest, batches = results.manifest, results.batches
    content = {
        "rehearsal": manifest.rehearsal,
        "survey": manifest.survey,
        "title": results.title,
        "manifest": manifest.hash,
        "mode": manifest.mode,
        "closed": batches.closed,
        "reports": results.respondents,
        "batches": [
            {"day": day, "reports": size}
            for day, size in zip(batches.days, batches.sizes, strict=True)
        ],
        "look": results.look,
        "epsilon": results.epsilon,
        "notices": results.notices,
        "privacy": results.privacy,
        "numbers": [
            {key: value for key, value in row.items() if key != "rehearsal"}
            for row in _rows(results)
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def export_files(results: SurveyResults) -> dict[str, bytes]:
    """Every file of an export, by name."""
    texts = {
        "results.csv": results_csv(results),
        "results.json": results_json(results),
        "reports.jsonl": "".join(_report_lines(results)),
        "reports.csv": _reports_csv(results),
        "readings.csv": _readings_csv(results),
        "codebook.csv": _codebook_csv(results),
        "methods.txt": methods_paragraph(results) + "\n",
        "reproduce.py": (_SCRIPTS / "reproduce.py").read_text(encoding="utf-8"),
        "reproduce.R": (_SCRIPTS / "reproduce.R").read_text(encoding="utf-8"),
    }
    files = {name: text.encode("utf-8") for name, text in texts.items()}
    return files | {"manifest.json": results.manifest.canonical()}


def _rows(results: SurveyResults) -> Iterator[dict[str, Any]]:
    for look, number in results.numbers:
        reports = results.look_respondents if look == "planned" else results.respondents
        yield _row(results.manifest.rehearsal, look, reports, number)


def _row(rehearsal: bool, look: str, reports: int, number: ResultNumber) -> dict[str, Any]:
    estimate, tuning = number.reading.estimate, number.reading.tuning
    low, high = round_outwards(estimate.interval, _DECIMALS)
    influence = number.reading.influence
    return {
        "rehearsal": "REHEARSAL" if rehearsal else "",
        "look": look,
        "reports": reports,
        "question": number.question,
        "answer": number.answer,
        "label": number.label,
        "share_of": number.share_of,
        "by": number.by,
        "group": number.group if number.by else "",
        "group_label": number.group_label,
        "n": estimate.respondents,
        "estimate": round(estimate.value, _DECIMALS),
        "low": low if estimate.consistent else "",
        "high": high if estimate.consistent else "",
        "confidence": estimate.confidence,
        "method": number.reading.method,
        "tuning_1": tuning[0] if tuning else "",
        "tuning_2": tuning[1] if len(tuning) > 1 else "",
        "one_false_report": round(influence, 9) if math.isfinite(influence) else "",
    }


def _report_lines(results: SurveyResults) -> Iterator[str]:
    """One line for each report: its batch, the day of the batch, and what was sent."""
    batches = results.batches
    for number, (day, bodies) in enumerate(
        zip(batches.days, batches.bodies, strict=True), start=1
    ):
        for body in bodies:
            named: dict[str, Any] = {"batch": number, "day": day}
            if batches.last_at_will and number == len(batches.days):
                named["closing"] = True
            head = json.dumps(named, separators=(",", ":"))
            yield f'{head[:-1]},"report":{body.decode("ascii")}}}\n'


def _reports_csv(results: SurveyResults) -> str:
    """The same reports as columns of codes, for programs that read no JSON."""
    names = [question.id for question in results.manifest.questions]
    rows = []
    for number, bodies in enumerate(results.batches.bodies, start=1):
        for body in bodies:
            codes = dict(json.loads(body)["a"])
            rows.append(
                [number, *("" if "-" in codes[name] else codes[name] for name in names)]
            )
    return _write_csv(["batch", *names], rows)


def _codebook_csv(results: SurveyResults) -> str:
    rows: list[list[Any]] = []
    for question in results.manifest.questions:
        labels = question.labels[results.language]
        about = [question.id, question.text[results.language], question.kind]
        about += ["randomized" if question.private else "sent as it is"]
        if question.kind == "number":
            rows.append([*about, "", f"{question.low} to {question.high} by {question.step}"])
        rows += [[*about, place, label] for place, label in enumerate(labels)]
    return _write_csv(["question", "text", "kind", "sent", "answer", "label"], rows)


def _readings_csv(results: SurveyResults) -> str:
    """How each code of a report is read: the estimate of a share or mean is the sum of `top`
    over the sum of `bottom`. `box` counts from 1; without one the whole code is meant."""
    rows: list[Sequence[Any]] = []
    for question in results.manifest.questions:
        rows += _question_readings(question)
    columns = ["question", "answer", "box", "code", "top", "bottom", "supports", "p", "q"]
    return _write_csv([*columns, "low", "high"], rows)


def _question_readings(question: ManifestQuestion) -> Iterator[list[Any]]:
    design, field = design_of(question), question.field
    if design is None:
        assert question.low is not None
        assert question.high is not None
        for place in range(question.steps + 1):
            ends = [float(read_rational(question.low)), float(read_rational(question.high))]
            code = f"{place:0{field.width}}"
            yield [
                question.id,
                -1,
                "",
                code,
                repr(place / question.steps),
                1,
                "",
                "",
                "",
                *ends,
            ]
        return
    channels = answer_channels(design)
    if field.boxes:
        assert channels is not None
        for answer, (p, q) in enumerate(channels):
            for bit in (0, 1):
                top = repr(float((bit - q) / (p - q)))
                yield [question.id, answer, answer + 1, bit, top, 1, bit, p, q, 0, 1]
        return
    yield from _numbered_readings(question, design, channels)


def _numbered_readings(
    question: ManifestQuestion, design: Any, channels: Any
) -> Iterator[list[Any]]:
    width, reports = question.field.width, list(range(question.field.values))
    codes = [f"{report:0{width}}" for report in reports]
    reader = reader_for(design)
    readings = reader(reports)
    first = 0 if reader.ends is None else 2
    for answer in range(question.answers):
        p, q = ("", "") if channels is None else channels[answer]
        for report, code in zip(reports, codes, strict=True):
            if question.joint:
                supported: Any = report >> answer & 1
            else:
                supported = int(report == answer) if channels else ""
            top = repr(float(readings[report, first + answer]))
            yield [question.id, answer, "", code, top, 1, supported, p, q, 0, 1]
    if reader.ends is None and question.kind == "scale" and hasattr(design, "matrix"):
        reader = scale_reader(design, question.answers - question.declines)
        readings = reader(reports)
    if reader.ends is not None:
        for report, code in zip(reports, codes, strict=True):
            top, bottom = readings[report, 1], readings[report, 0] + readings[report, 1]
            numbers = [repr(float(top)), repr(float(bottom))]
            yield [question.id, -1, "", code, *numbers, "", "", "", *reader.ends]


def _write_csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A text that a spreadsheet could run is prefixed with an apostrophe."""
    if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
