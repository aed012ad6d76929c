"""`deniable survey cards` and `deniable survey collect`."""

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app, main
from tests.surveys.collected import ONE_QUESTION

RUN = CliRunner()
PHONE = ONE_QUESTION.replace('design = "two-coins"', "epsilon = 1")


def run(*words):
    result = RUN.invoke(app, ["survey", *map(str, words)])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


@pytest.fixture
def survey(tmp_path):
    file = tmp_path / "one.toml"
    file.write_text(ONE_QUESTION)
    (tmp_path / "phone.toml").write_text(PHONE)
    (tmp_path / "answers.csv").write_text("doping\n" + "yes\n" * 40 + "No\n" * 60)
    return file


def test_cards_for_every_format(survey, tmp_path):
    told = run("cards", survey, "--out", tmp_path / "cards", "--no-pdf")
    names = {file.name for file in (tmp_path / "cards").iterdir()}
    assert names == {"cards-a6.html", "cards-a4.html", "interviewer.html"}
    assert "interviewer.html" in told
    assert "first coin: heads" in (tmp_path / "cards" / "cards-a6.html").read_text()


def test_without_chromium_it_says_so(survey, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    told = run("cards", survey, "--out", tmp_path / "cards", "--device", "spinner")
    assert "Chromium is not installed" in told


@pytest.mark.needs("chromium")
def test_cards_as_pdf(survey, tmp_path):
    run("cards", survey, "--out", tmp_path / "cards")
    for name in ("cards-a6", "cards-a4", "interviewer"):
        assert (tmp_path / "cards" / f"{name}.pdf").read_bytes().startswith(b"%PDF-")


def test_answers_are_collected_and_pooled(survey, tmp_path):
    answers, reports = tmp_path / "answers.csv", tmp_path / "paper.jsonl"
    told = run("collect", survey, answers, "--out", reports)
    assert "100 answers from paper" in told
    assert "0.300" in told
    assert "100 respondents" in run("report", survey, reports)
    phone = tmp_path / "phone.toml"
    run("simulate", phone, "--people", 200, "--out", tmp_path / "phone.jsonl")
    told = run("collect", survey, answers, "--pool-with", phone, tmp_path / "phone.jsonl")
    for heading in ("paper", "phone", "pooled", "same in all"):
        assert heading in told


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["cards", "phone.toml", "--out", "c"], "exactly the odds"),
        (["cards", "one.toml", "--out", "c", "--device", "die"], "No card for die"),
        (["cards", "one.toml", "--out", "c", "--language", "de"], "must be one of en"),
        (["collect", "one.toml", "wrong.csv"], "Line 3: doping has no such answer"),
        (["collect", "one.toml", "none.csv"], "cannot be read"),
    ],
)
def test_mistakes_are_explained(survey, tmp_path, monkeypatch, capsys, words, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.csv").write_text("doping\nyes\nperhaps\n")
    with pytest.raises(SystemExit) as end:
        main(["survey", *words])
    assert end.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert why in told
    assert "perhaps" not in told
