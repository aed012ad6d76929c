"""`deniable survey report`: from files and from a survey that was served."""

import json
import secrets

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app, main
from deniable.app.cli.surveys.opened_survey import folder_of
from deniable.surveys import load
from deniable.surveys.collect.collection import CollectionChoices, SurveyCollection
from tests.surveys.collected import EVERY_KIND, ONE_QUESTION

RUN = CliRunner()


def run(*words):
    result = RUN.invoke(app, ["survey", *map(str, words)])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


@pytest.fixture
def survey(tmp_path):
    file = tmp_path / "training.toml"
    file.write_text(EVERY_KIND)
    run("simulate", file, "--people", 450, "--out", tmp_path / "r.jsonl")
    return file


def test_all_files_of_a_report(survey, tmp_path):
    reports, out = tmp_path / "r.jsonl", tmp_path / "out"
    words = ["--html", out / "p.html", "--csv", out / "t.csv", "--json", out / "n.json"]
    told = run("report", survey, reports, *words, "--export", out / "e", "--rehearsal")
    assert "REHEARSAL" in told
    assert "look that was fixed" in told
    assert "REHEARSAL" in (out / "p.html").read_text()
    assert (out / "t.csv").read_text() == (out / "e" / "results.csv").read_text()
    assert json.loads((out / "n.json").read_text())["reports"] == 450
    names = {file.name for file in (out / "e").iterdir()}
    assert names >= {"manifest.json", "reports.jsonl", "codebook.csv", "methods.txt"}
    again = run(
        "report",
        survey,
        out / "e" / "reports.jsonl",
        "--manifest",
        out / "e" / "manifest.json",
        "--csv",
        out / "again.csv",
    )
    assert "again.csv" in again
    assert (out / "again.csv").read_text() == (out / "t.csv").read_text()
    terminal = run(
        "report", survey, out / "e/reports.jsonl", "--manifest", out / "e/manifest.json"
    )
    assert "450 respondents" in terminal


@pytest.mark.parametrize(
    ("people", "said"), [(70, "was closed at will before"), (160, "look that was fixed")]
)
def test_a_survey_that_was_served_is_read_by_batches(tmp_path, people, said):
    """Sixty are planned. Of 160 people two batches came before the survey was closed."""
    file = tmp_path / "one.toml"
    file.write_text(ONE_QUESTION.replace("planned_people = 1000", "planned_people = 60"))
    collection = SurveyCollection(
        load(file), folder_of(file, rehearsal=False), CollectionChoices(mode="open")
    )
    body = collection.manifest.write_report({"doping": 1}).decode()
    for _ in range(people):
        collection.receive(
            json.dumps({"report": body, "number": secrets.token_hex(16)}).encode()
        )
    collection.store.write_batches()
    collection.store.close_survey()
    collection.close()
    told = run("report", file)
    assert f"{people} reports" in told
    assert said in told
    assert "yes" in told
    assert "guess right from the reports" in told
    assert "p.html" in run("report", file, "--html", tmp_path / "p.html")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["report", "{file}"], "has not begun"),
        (["report", "{file}", "none.jsonl", "--html", "p.html"], "cannot be read"),
        (["report", "{file}", "{reports}", "--csv", "/proc/none/t.csv"], "cannot be written"),
        (
            ["report", "{file}", "{reports}", "--csv", "t.csv", "--pictures", "p"],
            "--html",
        ),
        (["report", "{file}", "{reports}", "--htlm", "p"], "Did you mean"),
    ],
)
def test_mistakes_are_explained(survey, tmp_path, monkeypatch, capsys, words, why):
    monkeypatch.chdir(tmp_path)
    named = [word.format(file=survey, reports=tmp_path / "r.jsonl") for word in words]
    with pytest.raises(SystemExit) as end:
        main(["survey", *named])
    assert end.value.code == 2
    assert why in " ".join(capsys.readouterr().err.split())
