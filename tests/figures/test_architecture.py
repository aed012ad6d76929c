from pathlib import Path

from deniable.figures import architecture
from deniable.figures.canvas import save

ROOT = Path(__file__).parents[2]


def test_every_room_in_the_picture_exists():
    rooms = {box.room for box in (*architecture.QUERY, *architecture.SURVEY)} - {
        "the respondent"
    }
    assert all((ROOT / "src" / "deniable" / room).is_dir() for room in rooms)


def test_the_documentation_shows_the_picture_that_is_drawn(tmp_path):
    drawn = save(architecture.ways(), tmp_path / "architecture.svg").read_text(encoding="utf-8")
    for box in (*architecture.QUERY, *architecture.SURVEY):
        assert all(line in drawn for line in [box.room, *box.title.split("\n")])
    shown = (ROOT / "docs" / "pictures" / "architecture.svg").read_text(encoding="utf-8")
    assert texts(shown) == texts(drawn)


def texts(picture):
    """What a picture says; how matplotlib draws its lines may change with its version."""
    return [line.strip() for line in picture.split("<text")[1:]]
