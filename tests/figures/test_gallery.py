"""`make figures` draws every picture, and each of them shows something."""

from deniable.figures import attacks, quantiles
from deniable.figures.gallery import FIGURES, draw


def test_every_picture_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(attacks, "REPEATS", 1)
    monkeypatch.setattr(quantiles, "TRIALS", 1)
    monkeypatch.setattr(quantiles, "COUNTS", (1, 9))
    paths = draw(tmp_path / "new" / "folder")
    assert [path.stem for path in paths] == list(FIGURES)
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert text.count("<path") > 5
        assert "<text" in text
