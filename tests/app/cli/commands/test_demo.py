"""`deniable demo`: one story, told small; facts that fail less than once in 10^9 runs."""

import re

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app
from deniable.app.cli.story import copy_and_model, hospital_questions, survey_phones
from deniable.engines.duckdb.example_hospital import WARDS


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    picture = tmp_path_factory.mktemp("demo") / "new" / "demo.png"
    words = ["demo", "--picture", str(picture)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hospital_questions, "VISITS", 30_000)
        patch.setattr(survey_phones, "PHONES", 100)
        patch.setattr(copy_and_model, "TRAINED", 6_000)
        patch.setattr(copy_and_model, "TESTED", 2_000)
        result = CliRunner().invoke(app, words, env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    return result.output


def test_the_price_comes_first_with_the_kernels_line(told):
    before, _, after = told.partition("The answer")
    assert re.search(r"└── checked: one patient moves these numbers by at most [\d,]+", before)
    assert re.search(r"lies between [\d,.-]+ and [\d,.]+, with 95 % confidence", after)


def test_every_ward_has_its_numbers_and_margins(told):
    for ward in WARDS:
        assert re.search(rf"^{ward} +[\d,]+ ± [\d,]+ +[\d,.-]+ (±|\()", told, re.MULTILINE)


def test_rare_diseases_are_hidden(told):
    """A key with 11 patients appears with probability below 1e-8: far below its threshold."""
    assert "high blood pressure" in told
    assert "rare disease" not in told
    assert re.search(r"\d+ rare groups of the exact answer are hidden", " ".join(told.split()))


def test_two_questions_are_refused_and_cost_nothing(told):
    assert "InvalidQuery: The question asks for no aggregate" in told
    assert "BudgetExhausted: This answer costs epsilon 4" in told
    assert re.findall(r"Left: epsilon ([\d.]+),", told) == ["3.5", "3", "2"]


def test_the_certificate_is_checked(told):
    assert "✓ signed with the key given" in told
    assert "✓ everything else in the release follows from its certificate" in told


def test_phones_answer_and_the_share_is_estimated(told):
    assert "100 simulated phones" in " ".join(told.split())
    assert re.search(r"^ yes +[\d.]+ % +[\d.]+ % to [\d.]+ %", told, re.MULTILINE)


def test_a_copy_is_scored_and_a_model_compared(told):
    text = " ".join(told.split())
    assert re.search(r"Errors of 3 tables of the copy .* Mean: 0\.\d+", text)
    private, plain = re.search(
        r"private ([\d.]+)%, the same without noise ([\d.]+)%", text
    ).groups()
    assert float(private) > 65
    assert abs(float(private) - float(plain)) < 15


def test_the_attack_works_without_noise_only(told):
    text = " ".join(told.split())
    exact, private = re.search(
        r"exact answers (\d+) % of the values of ill are recovered; with epsilon 1, (\d+) %",
        text,
    ).groups()
    assert int(exact) >= 90
    assert int(private) <= 65


def test_it_ends_with_what_was_protected_and_where_to_go_on(told):
    assert "at most 20.09" in " ".join(told.split())  # e**3
    assert "deniable serve --demo" in told
