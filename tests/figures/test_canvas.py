"""The house style, and files that come out the same every time."""

import pytest

from deniable.errors import InvalidParameter
from deniable.figures.canvas import canvas, save


def drawn():
    figure, axes = canvas("Squares", x="n", y="n squared")
    axes.plot([1, 2, 3], [1, 4, 9], label="squares")
    axes.legend()
    return figure


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_picture_is_the_same_file(tmp_path, kind):
    first = save(drawn(), tmp_path / f"first.{kind}").read_bytes()
    assert first == save(drawn(), tmp_path / f"second.{kind}").read_bytes()
    assert len(first) > 1000


def test_an_svg_keeps_its_words_and_has_no_date(tmp_path):
    text = save(drawn(), tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "n squared" in text
    assert "<dc:date>" not in text


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.svg.txt"])
def test_other_formats_are_refused(tmp_path, name):
    with pytest.raises(InvalidParameter, match=r"\.svg or \.png"):
        save(drawn(), tmp_path / name)


def test_a_folder_that_is_missing_is_made(tmp_path):
    assert save(drawn(), tmp_path / "new" / "one" / "f.svg").exists()


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "plain").write_text("no folder")
    with pytest.raises(InvalidParameter, match="cannot be written"):
        save(drawn(), tmp_path / "plain" / "f.svg")
