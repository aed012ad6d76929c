"""The page holds the whole label, escaped, and needs nothing from elsewhere."""

from fractions import Fraction
from html import unescape
from html.parser import HTMLParser

from deniable.release.certificate.label import Label
from deniable.release.certificate.label_page import label_page

HALF = Fraction(1, 2)
LABEL = Label(
    (("Who", ("Each <row> & more.",)), ("How much", ("Little.",)), ("Where", ("Here.",))),
    ((Fraction(1, 10), Fraction(1, 4)), (HALF, Fraction(3, 4))),
    Fraction(1, 3),
)


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(html):
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


def test_everything_is_said_and_escaped():
    html = label_page(LABEL, title="<script>")
    assert "<row>" not in html
    assert "<script" not in html
    text = read(html).text
    for words in ("Each <row> & more.", "Little.", "Here.", "<script>"):
        assert words in text
    assert unescape("guess 10 % → 25 %") in text
    assert "share of the budget 33.4 %" in text  # rounded up


def test_bars_are_as_long_as_they_should():
    rects = [attrs for tag, attrs in read(label_page(LABEL, title="")).tags if tag == "rect"]
    widths = [(rect.get("x"), rect["width"]) for rect in rects]
    assert widths[1:3] == [(None, "10.00"), ("10.00", "15.00")]
    assert widths[4:6] == [(None, "50.00"), ("50.00", "25.00")]
    assert widths[8] == ("0.00", "33.33")


def test_nothing_comes_from_elsewhere():
    html = label_page(LABEL, title="")
    assert not any(word in html for word in ("http", "src=", "url(", "@import"))
