"""Answers that were keyed in from paper: labels or numbers, in CSV or JSON lines.

Only what a person said after the throw is keyed in, so each line becomes one report, as a
device would have sent it, and is checked by the manifest in the same way. A label counts in any
language of the survey, whatever its case and blanks. A number counts the answers from 0, as the
codebook does; on a scale it is the point.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.errors import InvalidData
from deniable.exact.foreign_text import read_rational
from deniable.exact.suggestions import suggest
from deniable.surveys.paper.card_words import card_words
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion
from deniable.surveys.questionnaire.phrases import Phrases
from deniable.surveys.results.report_files import read_json_objects, read_text_file

# Other words for "prefer not to say" that people write on paper.
DECLINED = {
    "en": ("prefer not to say", "rather not say", "no answer", "declined"),
    "de": ("keine angabe", "keine antwort", "k. a.", "k.a.", "verweigert"),
    "fr": ("je préfère ne pas répondre", "sans réponse", "refus"),
    "es": ("prefiero no contestar", "prefiero no decirlo", "sin respuesta"),
}
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_BETWEEN_BOXES = ";"


def read_keyed_answers(manifest: Manifest, path: str | Path) -> list[bytes]:
    """The reports in a .csv or .jsonl file, each as a device would have sent it."""
    text = read_text_file(path)
    form = "csv" if Path(path).suffix.lower() == ".csv" else "jsonl"
    return parse_keyed_answers(manifest, text, form=form)


def parse_keyed_answers(manifest: Manifest, text: str, *, form: str = "csv") -> list[bytes]:
    """The same from text.

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> manifest = make_manifest(
    ...     loads(
    ...         'id="s"\\ntitle="t"\\nepsilon=1.1\\n[[questions]]\\nid="a"\\nkind="yes-no"\\n'
    ...         'text="?"\\ndesign="two-coins"'
    ...     )
    ... )
    >>> reports = parse_keyed_answers(manifest, "a\\n YES \\nno\\n1\\n")
    >>> [manifest.read_report(report)["a"] for report in reports]
    [1, 0, 1]
    """
    questions = {question.id: question for question in manifest.questions}
    words = {name: _answer_words(manifest, question) for name, question in questions.items()}
    lines: Iterable[tuple[int, Mapping[str, Any]]]
    lines = _csv_lines(text) if form == "csv" else read_json_objects(text)
    reports = []
    for number, cells in lines:
        row: dict[str, Any] = {}
        for name, cell in cells.items():
            if name not in questions:
                hint = suggest(name, questions, "The questions are")
                raise InvalidData(f"Line {number}: no question has this id. {hint}")
            if cell is None or (isinstance(cell, str) and not cell.strip()):
                continue
            row[name] = _read_cell(questions[name], words[name], cell, number)
        try:
            reports.append(manifest.write_report(row))
        except InvalidData as problem:
            why = str(problem).removeprefix("The report is refused: ")
            raise InvalidData(
                f"Line {number} is refused: {why} Every line must answer each private question "
                "that was asked; leave out the line of a person who did not take part."
            ) from None
    if not reports:
        raise InvalidData("There are no answers. Give one line for each person.")
    return reports


def _csv_lines(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The number of each line, and its cells by column."""
    try:
        dialect: Any = csv.Sniffer().sniff(text.split("\n", 1)[0], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    reader = csv.reader(io.StringIO(text, newline=""), dialect, strict=True)
    try:
        columns = [cell.strip() for cell in next(reader, [])]
        if len(set(columns)) < len(columns) or not columns:
            raise InvalidData("The first line must name the questions, each once.")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(columns):
                raise InvalidData(
                    f"Line {reader.line_num} has {len(cells)} cells, and the first line has "
                    f"{len(columns)}."
                )
            yield reader.line_num, dict(zip(columns, cells, strict=True))
    except csv.Error:
        raise InvalidData(f"Line {reader.line_num} is not CSV.") from None


def _answer_words(manifest: Manifest, question: ManifestQuestion) -> dict[str, int]:
    """The place of each answer by its label, in every language of the survey."""
    places: dict[str, int] = {}
    words = Phrases(manifest.words)
    for language in manifest.languages:
        labels = list(enumerate(question.labels[language]))
        if question.design == "crosswise":  # "yes" is never said
            card = card_words(language)
            labels = [(0, card["different"]), (1, card["same"])]
        if question.declines and labels:
            code = language.lower().split("-")[0]
            declined = [*DECLINED.get(code, ()), words.say("prefer_not_to_say", language)]
            labels += [(len(labels) - 1, word) for word in declined]
        for place, label in labels:
            if places.setdefault(normalize(label), place) != place:
                raise InvalidData(
                    f"{question.id} has two answers whose labels differ only in case or "
                    "blanks, or that mean another answer in another language. Key in numbers."
                )
    return places


def normalize(label: str) -> str:
    """A label without differences of case, blanks and width.

    >>> normalize("  Prefer NOT   to say ")
    'prefer not to say'
    """
    return " ".join(unicodedata.normalize("NFKC", label).casefold().split())


def _read_cell(question: ManifestQuestion, words: dict[str, int], cell: Any, line: int) -> Any:
    """One answer as the design reports it."""
    if question.field.packed:
        raise InvalidData(
            f"Line {line}: {question.id} has a bit for each answer, which nobody throws by "
            "hand. Collect it with devices."
        )
    if question.kind == "multiple-choice":
        return _read_boxes(question, words, cell, line)
    if isinstance(cell, str) and normalize(cell) in words:
        place = words[normalize(cell)]
        if question.kind == "number":  # only "prefer not to say" has a label
            return 2 if question.private else float("nan")
        return place
    number = _read_number(cell)
    if number is None:
        raise _refuse(question, words, line)
    if question.kind == "number" and not question.private:
        low, high, step = map(read_rational, (question.low, question.high, question.step))
        if not low <= number <= high or (number - low) % step:
            raise _refuse(question, words, line)
        return float(number)
    if question.kind == "scale":
        number -= 1  # points count from 1
    most = question.field.values
    if number.denominator != 1 or not 0 <= number < most:
        raise _refuse(question, words, line)
    return int(number)


def _read_boxes(question: ManifestQuestion, words: dict[str, int], cell: Any, line: int) -> Any:
    """Boxes as labels between semicolons, or as a list of 0 and 1."""
    if isinstance(cell, list):
        marks = cell
    else:
        parts = [normalize(part) for part in str(cell).split(_BETWEEN_BOXES) if part.strip()]
        if not all(part in words for part in parts):
            raise _refuse(question, words, line)
        ticked = {words[part] for part in parts}
        marks = [int(place in ticked) for place in range(question.answers)]
    if len(marks) != question.answers or not all(mark in (0, 1) for mark in marks):
        raise _refuse(question, words, line)
    if question.private and question.joint:
        return sum(int(mark) << place for place, mark in enumerate(marks))
    return [int(mark) for mark in marks]


def _read_number(cell: Any) -> Fraction | None:
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    text = str(cell).strip()
    return Fraction(text) if _NUMBER.fullmatch(text) else None


def _refuse(question: ManifestQuestion, words: dict[str, int], line: int) -> InvalidData:
    if question.kind == "number":
        listed = f"a number from {question.low} to {question.high}"
        if question.private:
            listed = "what was reported: 0 for the low end, 1 for the high end"
    else:
        shown = list(dict.fromkeys(words))[:12]
        listed = f"one of {', '.join(shown)}, or its number"
    return InvalidData(f"Line {line}: {question.id} has no such answer. It must be {listed}.")
