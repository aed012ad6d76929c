import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import Rappor, Tally
from deniable.surveys import decode

DESIGN = Rappor(bits=32, hashes=2, cohorts=16, f=0.25, p=0.25, q=0.75)
SHARES = {"blue": 0.35, "red": 0.25, "green": 0.2, "pink": 0.1, "grey": 0.06, "teal": 0.04}
ABSENT = [f"none{i}" for i in range(60)]


def people(n):
    return [value for value, share in SHARES.items() for _ in range(round(n * share))]


def test_200_000_people_are_decoded():
    tally = DESIGN.aggregate(DESIGN.randomize(people(200_000)))
    found = decode(DESIGN, tally, [*SHARES, *ABSENT])
    assert [one.value for one in found[:6]] == list(SHARES)
    assert {one.value for one in found if one.found} == set(SHARES)
    for one in found:
        truth = SHARES.get(one.value, 0)
        assert abs(one.share.raw - truth) < 7 * one.share.standard_error


def test_more_candidates_than_rows():
    design = Rappor(bits=16, hashes=2, cohorts=4, f=0.25, p=0.25, q=0.75)
    tally = design.aggregate(design.randomize(people(100_000)))
    found = decode(design, tally, [*SHARES, *(f"none{i}" for i in range(200))])
    assert {"blue", "red", "green"} <= {one.value for one in found if one.found}
    assert len(found) <= 0.8 * 64


def test_errors_are_as_stated(size):
    surveys = size(small=60, full=1500, what="RAPPOR surveys of 3,000 people")
    values = people(3000)
    names = [*SHARES, "none"]
    squares, stated = [], []
    for _ in range(surveys):
        found = decode(DESIGN, DESIGN.aggregate(DESIGN.randomize(values)), names)
        squares += [(one.share.raw - SHARES.get(one.value, 0)) ** 2 for one in found]
        stated += [one.share.standard_error**2 for one in found]
    # The standard deviation of the ratio is 8 % at 60 surveys, below 2 % at 1,500.
    within = 0.1 if surveys >= 1500 else 0.35
    assert np.mean(squares) == pytest.approx(np.mean(stated), rel=within)


def test_bad_requests():
    tally = DESIGN.aggregate(DESIGN.randomize(["blue"]))
    with pytest.raises(InvalidParameter, match="aggregate"):
        decode(Rappor(), tally, ["blue"])
    with pytest.raises(InvalidParameter, match="once"):
        decode(DESIGN, tally, ["blue", "blue"])
    with pytest.raises(InvalidData, match="no reports"):
        decode(DESIGN, Tally(DESIGN, (0,) * (16 * 33), 0), ["blue"])
