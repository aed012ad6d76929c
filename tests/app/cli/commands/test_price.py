"""`deniable price`: numbers, the honest "impossible", and pictures on request."""

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app, main


def told(*words):
    result = CliRunner().invoke(app, ["price", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_count():
    text = told("count", "--epsilon", "0.5")
    assert "± 6 at 95 %" in text
    assert "1.41 times better" in text


def test_an_impossible_proportion_and_what_can():
    text = told("proportion", "--margin", "0.01", "--n", "400", "--epsilon", "0.1")
    assert text.startswith("impossible")
    assert "3000 records" in text


def test_a_survey():
    assert told("survey", "--margin", "0.03", "--epsilon", "1.0986").startswith("4269 people")
    assert "9.31 times" in told(
        "survey", "--margin", "0.03", "--odds", "3", "--prevalence", ".1"
    )


@pytest.mark.parametrize(
    "words",
    [
        ["count", "--epsilon", "0.5"],
        ["proportion", "--margin", "0.01", "--n", "400", "--epsilon", "0.1"],
        ["survey", "--margin", "0.03", "--epsilon", "1.0986"],
    ],
)
def test_a_picture_is_written_on_request(tmp_path, words):
    target = tmp_path / "out.svg"
    assert "out.svg" in told(*words, "--plot", str(target)).replace("\n", "")
    assert "<svg" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["count", "--epsilon", "-1"], "must be positive"),
        (["count", "--epsilon", "one"], "must be a number"),
        (["survey", "--margin", "0.03"], "epsilon"),
        (["survey", "--margin", "2", "--epsilon", "1"], "strictly between 0 and 1"),
        (["proportion", "--margin", "0.1", "--n", "0", "--epsilon", "1"], "`n`"),
    ],
)
def test_bad_words_get_one_line(capsys, words, why):
    with pytest.raises(SystemExit, match="2"):
        main(["price", *words])
    told = capsys.readouterr().err
    assert why in told
    assert len(told.splitlines()) == 1
