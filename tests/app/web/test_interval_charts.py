"""Pictures state their numbers, and need no stylesheet."""

import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest

from deniable.app.web.interval_charts import ChartRow, draw_hundred, draw_intervals
from deniable.surveys.estimate.look_rules import LookRule
from deniable.surveys.results.result_numbers import ResultNumber

NAMESPACE = "{http://www.w3.org/2000/svg}"
FOUND = LookRule(anytime=False).share(400, 1000, Fraction(3, 4), Fraction(1, 4))
WIDER = LookRule(planned=1000).share(400, 1000, Fraction(3, 4), Fraction(1, 4))
NUMBER = ResultNumber("doping", 1, "<b>yes & no", FOUND)


def draw(**more):
    rows = [ChartRow("a heading"), ChartRow("<b>yes & no", NUMBER)]
    return ET.fromstring(draw_intervals(rows, name="x", title='"Doped?"', **more))


def bars(picture, kind):
    return [
        (float(each.get("x")), float(each.get("width")))
        for each in picture.iter(f"{NAMESPACE}rect")
        if each.get("class") == kind
    ]


def test_a_picture_has_a_title_a_description_and_no_style():
    picture = draw()
    title, described = (picture.find(f"{NAMESPACE}{name}") for name in ("title", "desc"))
    assert title.text == '"Doped?"'
    assert described.text == "<b>yes & no: 30.0 %, 23.8 % to 36.3 %"
    assert picture.get("aria-labelledby") == f"{title.get('id')} {described.get('id')}"
    assert not any(each.get("style") for each in picture.iter())
    for each in picture.iter(f"{NAMESPACE}rect"):
        assert each.get("fill")  # visible without a stylesheet


def test_bars_are_where_the_intervals_are():
    ((x, width),) = bars(draw(), "bar")
    low, high = FOUND.estimate.interval
    assert x == pytest.approx(7 + 386 * low, abs=0.02)
    assert x + width == pytest.approx(7 + 386 * high, abs=0.02)
    wide = ResultNumber("doping", 1, "yes", WIDER)
    both = ET.fromstring(
        draw_intervals([ChartRow("yes", NUMBER, wide)], name="x", title="Doped?")
    )
    ((soft, soft_width),) = bars(both, "soft")
    assert soft < x
    assert soft + soft_width > x + width


def test_rehearsals_are_marked_in_the_picture():
    assert "REHEARSAL" not in ET.tostring(draw(), encoding="unicode")
    assert "REHEARSAL" in ET.tostring(draw(rehearsal=True), encoding="unicode")


def test_a_hundred_people():
    picture = ET.fromstring(draw_hundred(75, name="h", title="Guesses", before=50))
    kinds = [each.get("class") for each in picture.iter(f"{NAMESPACE}circle")]
    assert [kinds.count(kind) for kind in ("soft", "bar", "none")] == [50, 25, 25]
