"""Keyed answers: labels, numbers, languages, and errors that name the line."""

import pytest

from deniable.errors import InvalidData
from deniable.surveys.paper.keyed_answers import (
    normalize,
    parse_keyed_answers,
    read_keyed_answers,
)
from tests.surveys.collected import manifest_of

SURVEY = """
id = "paper"
title = {en = "Paper", de = "Papier"}
epsilon = 9
languages = ["en", "de"]
[[questions]]
id = "doping"
kind = "yes-no"
text = {en = "Doped?", de = "Gedopt?"}
odds = 4
prefer_not_to_say = true
[[questions]]
id = "pressure"
kind = "scale"
text = {en = "Pressure?", de = "Druck?"}
points = 3
odds = 4
[[questions]]
id = "means"
kind = "multiple-choice"
text = {en = "Which?", de = "Welche?"}
options = [{en = "pills", de = "Pillen"}, {en = "blood", de = "Blut"}]
[[questions]]
id = "age"
kind = "number"
text = {en = "Age?", de = "Alter?"}
private = false
low = 10
high = 90
"""
MANIFEST = manifest_of(SURVEY)
HEADER = "doping,pressure,means,age\n"


def rows(text, form="csv"):
    return [
        MANIFEST.read_report(body) for body in parse_keyed_answers(MANIFEST, text, form=form)
    ]


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ("yes", 1),
        (" YES ", 1),
        ("Ja", 1),
        ("nein", 0),
        ("1", 1),
        ("2", 2),
        ("prefer not to say", 2),
        ("Rather  NOT say", 2),
        ("keine Angabe", 2),
        ("k. A.", 2),
        ("\uff59\uff45\uff53", 1),
    ],
)
def test_labels_count_in_every_language_whatever_case_and_blanks(cell, place):
    assert rows(f"{HEADER}{cell},1,pills,20\n")[0]["doping"] == place


def test_numbers_count_answers_from_0_and_points_from_1():
    (row,) = rows(f"{HEADER}0,3,pills;Blut,42\n")
    assert row == {"doping": 0, "pressure": 2, "means": row["means"], "age": 42.0}
    (same,) = rows('{"doping": 0, "pressure": 3, "means": [1, 1], "age": 42}', form="jsonl")
    assert same == row
    (none,) = rows('{"doping": 0, "pressure": 3, "means": [0, 0], "age": 42}', form="jsonl")
    assert none["means"] != row["means"]


def test_other_separators_and_blank_lines():
    assert rows("doping;pressure;means;age\n\nyes;1;pills;20\n;;;\n") == rows(
        "doping\tpressure\tmeans\tage\nyes\t1\tpills\t20\n"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("yes,1,pills,20\nmaybe,1,pills,20", "Line 3: doping has no such answer. It must be"),
        ("3,1,pills,20", "Line 2: doping"),
        ("yes,0,pills,20", "Line 2: pressure"),
        ("yes,1.5,pills,20", "Line 2: pressure"),
        ("yes,1,gas,20", "Line 2: means"),
        ("yes,1,pills,95", "Line 2: age .* a number from 10 to 90"),
        ("yes,1,pills,20.5", "Line 2: age"),
        ("yes,,pills,20", "Line 2 is refused: pressure is missing"),
        ("yes,1,pills", "Line 2 has 3 cells"),
        ('yes,1,"pills,20', "Line 2 is not CSV"),
        ("", "no answers"),
    ],
)
def test_errors_name_the_line_and_not_the_answer(text, why):
    with pytest.raises(InvalidData, match=why) as error:
        rows(f"{HEADER}{text}\n")
    assert "maybe" not in str(error.value)
    assert "gas" not in str(error.value)


def test_columns_must_be_questions():
    with pytest.raises(InvalidData, match="Did you mean `doping`"):
        rows("dopping\nyes\n")
    with pytest.raises(InvalidData, match="each once"):
        rows("doping,doping\nyes,yes\n")
    with pytest.raises(InvalidData, match="Line 1 is not an object"):
        rows("[1]", form="jsonl")


def test_files_are_read_by_their_ending(tmp_path):
    table, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    table.write_text(f"\ufeff{HEADER}yes,1,pills,20\n", encoding="utf-8")
    lines.write_text('{"doping": "yes", "pressure": 1, "means": "pills", "age": 20}')
    assert read_keyed_answers(MANIFEST, table) == read_keyed_answers(MANIFEST, lines)
    with pytest.raises(InvalidData, match="cannot be read"):
        read_keyed_answers(MANIFEST, tmp_path / "none.csv")
    table.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidData, match="not text"):
        read_keyed_answers(MANIFEST, table)


def test_labels_that_cannot_be_told_apart():
    twice = SURVEY.replace('de = "Blut"', 'de = "Pills"')
    with pytest.raises(InvalidData, match="Key in numbers"):
        parse_keyed_answers(manifest_of(twice), f"{HEADER}yes,1,pills,20\n")
    assert normalize("A\u00a0 B") == "a b"


def test_bits_are_not_for_paper():
    options = ", ".join(f'"o{i}"' for i in range(20))
    many = manifest_of(
        'id="s"\ntitle="t"\nepsilon=1\n[[questions]]\nid="a"\nkind="single-choice"\n'
        f'text="?"\noptions=[{options}]'
    )
    with pytest.raises(InvalidData, match="nobody throws by hand"):
        parse_keyed_answers(many, "a\no1\n")
