import re
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from deniable.ledger.ledger import Remaining
from deniable.release.profile.profile import Profile
from deniable.release.profile.profile_page import draw_histogram, write_page
from deniable.release.profile.table_profile import ColumnProfile, NoisyNumber

BAD = '<script>alert(1)</script> & "it\'s"'
COUNTS = ((f"{BAD} to 5", NoisyNumber(10, 3)), ("5 to 9", NoisyNumber(-4, 3)))
MEDIAN = ((Fraction(1, 2), NoisyNumber(5, None)),)


def profile():
    columns = (
        ColumnProfile(
            "age",
            "a number",
            NoisyNumber(3, 2),
            ((Fraction(1, 2), NoisyNumber(5, None)),),
            COUNTS,
            True,
        ),
        ColumnProfile(BAD, BAD, None, (), ((BAD, NoisyNumber(7, 2)),), False, (BAD,)),
        ColumnProfile("empty", "text", notes=("Nothing.",)),
    )
    left = Remaining(Fraction(1), Fraction(0))
    return Profile(
        BAD,
        NoisyNumber(100, 5),
        NoisyNumber(50, 5),
        "patient",
        columns,
        Fraction(19, 20),
        left,
        left,
        (),
    )


class Balanced(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("meta", "line", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("line", "rect"):
            assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else():
    page = write_page(profile())
    checked = Balanced()
    checked.feed(page)
    assert checked.open == []
    assert {"section", "svg", "table"} <= set(checked.seen)
    assert not {"script", "link", "img", "iframe"} & set(checked.seen)
    assert not re.search(r"(src|href)=|https?://|url\(", page)


def test_what_came_from_the_table_is_escaped():
    page = write_page(profile())
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 5


def test_a_notebook_shows_the_same_cards():
    shown = profile()._repr_html_()
    assert shown in write_page(profile())
    assert shown.count("<section>") == 3


def test_bars_stay_inside_the_picture():
    drawn = draw_histogram(
        (
            ("0 to 1", NoisyNumber(10, 50)),
            ("1 to 2", NoisyNumber(-9, 3)),
            ("2 to 3", NoisyNumber(60, 1)),
        )
    )
    numbers = [float(number) for number in re.findall(r'(?:y|y1|y2|height)="([-.\d]+)"', drawn)]
    assert min(numbers) >= 0
    assert max(numbers) <= 84


def test_it_is_written_to_a_file(tmp_path):
    profile().save(str(tmp_path / "look.html"))
    assert (tmp_path / "look.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("counts", [(), COUNTS])
def test_a_column_without_counts(counts):
    from deniable.release.profile.profile_page import column_card

    assert column_card(ColumnProfile("x", "text", counts=counts)).startswith("<section>")
