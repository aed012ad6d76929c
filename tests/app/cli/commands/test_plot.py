"""`deniable plot`: a picture for every loss that words can name."""

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app, main


@pytest.mark.parametrize(
    "words",
    [
        ["tradeoff", "--epsilon", "1"],
        ["tradeoff", "--epsilon", "1", "--mu", "0.5", "--count", "3"],
        ["deltas", "--mu", "1"],
        ["growth", "--epsilon", "0.1", "--count", "30", "--delta", "1e-5"],
    ],
)
def test_a_picture_is_written(tmp_path, words):
    target = tmp_path / "f.svg"
    result = CliRunner().invoke(app, ["plot", *words, "--out", str(target)])
    assert result.exit_code == 0, result.output
    text = target.read_text(encoding="utf-8")
    assert f"{words[1].removeprefix('--')} {words[2]}" in text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["tradeoff", "--out", "f.svg"], "at least one loss"),
        (["tradeoff", "--epsilon", "-1", "--out", "f.svg"], "must not be negative"),
        (["deltas", "--mu", "one", "--out", "f.svg"], "must be a number"),
        (["tradeoff", "--epsilon", "1", "--out", "f.pdf"], ".svg or .png"),
    ],
)
def test_bad_words_get_one_line(capsys, tmp_path, monkeypatch, words, why):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["plot", *words])
    told = capsys.readouterr().err
    assert why in told
    assert len(told.splitlines()) == 1
