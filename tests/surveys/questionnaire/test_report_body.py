from fractions import Fraction

import pytest

from deniable.errors import InvalidData
from deniable.surveys.questionnaire.report_body import ReportField, read_body, write_body

DIGEST = "ab" * 32
FIELDS = [
    ReportField("a"),
    ReportField("b", values=65),
    ReportField("c", boxes=10, packed=True),
    ReportField("d", boxes=3),
    ReportField("e", values=22, low=Fraction(-5), step=Fraction(1, 2), declines=True),
]
REPORTS = {"a": 1, "b": 7, "c": [0b10100000, 0b01000000], "d": [0, 1, 1], "e": -4.5}


def test_a_report_comes_back():
    body = write_body(DIGEST, FIELDS, REPORTS)
    assert (
        body
        == (
            f'{{"v":1,"s":"{DIGEST}","a":[["a","1"],["b","07"],["c","1010000001"],'
            '["d","011"],["e","01"]]}'
        ).encode()
    )
    assert read_body(DIGEST, FIELDS, body) == REPORTS


def test_all_bodies_have_one_length():
    others = {"a": 0, "b": 64, "c": [255, 192], "d": [0, 0, 0], "e": 5.0}
    declined = {**others, "e": float("nan")}
    bodies = [
        write_body(DIGEST, FIELDS, reports) for reports in (REPORTS, others, declined, {})
    ]
    assert len({len(body) for body in bodies}) == 1
    assert read_body(DIGEST, FIELDS, bodies[2]).keys() == {"a", "b", "c", "d"}
    assert read_body(DIGEST, FIELDS, bodies[3]) == {}


GOOD = write_body(DIGEST, FIELDS, REPORTS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"v":1', b'"v":2'),
        (b"ab", b"ba"),
        (b'"a","1"', b'"a","2"'),
        (b'"07"', b'"65"'),
        (b'"07"', b'" 7"'),
        (b'"07"', b'"+7"'),
        (b'"07"', b'"-7"'),
        (b'"07"', b"1234"),
        (b'"011"', b'"012"'),
        (b'"011"', b'"0-1"'),
        (b'["a","1"],["b","07"]', b'["b","07"],["a","1"]'),
        (b'{"v":1,"s"', b'{"s":1,"v"'),
        (b'["a","1"],', b'["a","1" ]'),
        (b'"v":1', b'"v":\xff'),
    ],
)
def test_anything_else_is_refused(old, new):
    assert old in GOOD
    with pytest.raises(InvalidData, match="refused"):
        read_body(DIGEST, FIELDS, GOOD.replace(old, new, 1))


@pytest.mark.parametrize("body", [b"", b"{}", GOOD + b" ", GOOD[:-1], b"[" * len(GOOD)])
def test_other_lengths_and_nonsense_are_refused(body):
    with pytest.raises(InvalidData, match="refused"):
        read_body(DIGEST, FIELDS, body)
