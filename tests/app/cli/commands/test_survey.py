"""`deniable survey`: from a draft to a report."""

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app, main

RUN = CliRunner()


@pytest.fixture
def draft(tmp_path):
    file = tmp_path / "survey.toml"
    result = RUN.invoke(app, ["survey", "new", str(file)])
    assert result.exit_code == 0
    return file


def test_the_whole_way(draft, tmp_path):
    assert RUN.invoke(app, ["survey", "lint", str(draft)]).exit_code == 0
    planned = RUN.invoke(app, ["survey", "plan", str(draft), "--people", "3000"])
    assert planned.exit_code == 0, planned.output
    assert "doping" in planned.output
    assert "Best: one each" in planned.output.replace("\n", " ")
    reports, pictures = tmp_path / "r.jsonl", tmp_path / "pictures"
    result = RUN.invoke(
        app, ["survey", "simulate", str(draft), "--people", "3000", "--out", str(reports)]
    )
    assert result.exit_code == 0
    assert len(reports.read_text().splitlines()) == 3000
    words = ["survey", "report", str(draft), str(reports), "--pictures", str(pictures)]
    read = RUN.invoke(app, words)
    assert read.exit_code == 0, read.output
    told = " ".join(read.output.split())
    for expected in (
        "prefer not to say",
        "not proof",
        "chi-square",
        "at most epsilon 2.",
        "denied",
    ):
        assert expected in told
    assert {file.name for file in pictures.iterdir()} == {
        "doping.svg",
        "supplier.svg",
        "pressure.svg",
    }


def test_reports_use_the_anchor_and_the_language(draft, tmp_path):
    anchor = '\n[[questions]]\nid = "moon"\nkind = "yes-no"\ntext = "Moon?"\nanchor = true\n'
    draft.write_text(draft.read_text() + anchor)
    reports = tmp_path / "r.jsonl"
    words = ["survey", "simulate", str(draft), "--people", "8000", "--out", str(reports)]
    assert RUN.invoke(app, words).exit_code == 0
    read = RUN.invoke(app, ["survey", "report", str(draft), str(reports), "--language", "en"])
    assert read.exit_code == 0, read.output
    told = " ".join(read.output.split())
    assert "of the respondents are attentive" in told
    assert "careless answers taken out" in told


def test_amplification_is_claimed_only_with_a_shuffler(draft, tmp_path):
    reports = tmp_path / "r.jsonl"
    words = ["survey", "simulate", str(draft), "--people", "900", "--out", str(reports)]
    assert RUN.invoke(app, words).exit_code == 0
    read = ["survey", "report", str(draft), str(reports)]
    assert "Shuffled" not in RUN.invoke(app, read).output
    strips = 'strips = ["identity", "order", "time"]'
    shuffler = f'\n[shuffler]\nwho = "Post"\nindependent = true\n{strips}\n'
    draft.write_text(draft.read_text() + shuffler)
    assert "Shuffled" not in RUN.invoke(app, read).output  # an open answer is on each line
    told = " ".join(RUN.invoke(app, ["survey", "lint", str(draft)]).output.split())
    assert "Public answers on the same line" in told
    draft.write_text(draft.read_text() + "separates = true\n")
    assert RUN.invoke(app, read).exit_code != 0  # these lines were not taken apart
    assert RUN.invoke(app, [*words[:-1], str(tmp_path / "apart.jsonl")]).exit_code == 0
    told = RUN.invoke(app, [*read[:-1], str(tmp_path / "apart.jsonl")]).output
    assert "Shuffled with the others" in told
    assert "Shuffled, it costs" in told


def test_leaks_give_status_1(draft):
    text = draft.read_text() + '\n[[questions]]\nid = "why"\nkind = "text"\ntext = "Why?"\n'
    draft.write_text(text)
    result = RUN.invoke(app, ["survey", "lint", str(draft)])
    assert result.exit_code == 1
    assert "Free text" in result.output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["new", "s.json"], ".toml"),
        (["plan", "none.toml"], "cannot be read"),
        (["plan", "survey.toml", "--margin", "much"], "margin"),
        (["report", "survey.toml", "none.jsonl"], "cannot be read"),
        (["new", "survey.toml"], "exists already"),
    ],
)
def test_bad_words_get_one_line(capsys, draft, monkeypatch, words, why):
    monkeypatch.chdir(draft.parent)
    with pytest.raises(SystemExit, match="2"):
        main(["survey", *words])
    told = capsys.readouterr().err
    assert why in told
    assert len(told.splitlines()) == 1
