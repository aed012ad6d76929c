from deniable.figures.gallery import FIGURES
from tools.pages import gallery


def test_every_picture_has_its_code_and_its_caption():
    assert list(gallery.sources()) == list(FIGURES)
    assert set(gallery.CAPTIONS) == set(FIGURES)


def test_the_code_makes_the_picture():
    """The cheap ones are run; all are what `make figures` calls."""
    for name in ("tradeoff", "survey-margins"):
        namespace = {}
        exec(gallery.sources()[name], namespace)
        assert namespace["figure"].axes


def test_the_page_shows_what_was_drawn(tmp_path):
    for name in FIGURES:
        (tmp_path / f"{name}.svg").write_bytes(name.encode())
    pages = gallery.write_pages(tmp_path)
    assert pages["pictures/gallery/bandits.svg"] == b"bandits"
    assert "streams.regret()" in pages["gallery.md"]
