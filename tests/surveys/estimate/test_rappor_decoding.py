import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact import uniform_below
from deniable.mechanisms import Rappor, Tally
from deniable.surveys import decode

DESIGN = Rappor(bits=32, hashes=2, cohorts=16, f=0.25, p=0.25, q=0.75)
SHARES = {"blue": 0.35, "red": 0.25, "green": 0.2, "pink": 0.1, "grey": 0.06, "teal": 0.04}
ABSENT = [f"none{i}" for i in range(60)]


def people(n):
    return [value for value, share in SHARES.items() for _ in range(round(n * share))]


def test_200_000_people_are_decoded():
    tally = DESIGN.aggregate(DESIGN.randomize(people(200_000)))
    entries = decode(DESIGN, tally, [*SHARES, *ABSENT])
    assert [entry.value for entry in entries[:6]] == list(SHARES)
    # A name that nobody has may be found in 1 of 20 surveys: how often, is tested below.
    assert {entry.value for entry in entries if entry.occurs} >= set(SHARES)
    for entry in entries:
        truth = SHARES.get(entry.value, 0)
        assert abs(entry.share.raw - truth) < 7 * entry.share.standard_error


def test_more_candidates_than_rows():
    design = Rappor(bits=16, hashes=2, cohorts=4, f=0.25, p=0.25, q=0.75)
    tally = design.aggregate(design.randomize(people(100_000)))
    entries = decode(design, tally, [*SHARES, *(f"none{i}" for i in range(200))])
    assert {"blue", "red", "green"} <= {entry.value for entry in entries if entry.occurs}
    assert len(entries) <= 0.8 * 64


def test_thousands_of_candidates_are_absent(size):
    absent = size(small=1500, full=10_000, what="candidates of RAPPOR that nobody has")
    tally = DESIGN.aggregate(DESIGN.randomize(people(200_000)))
    entries = decode(DESIGN, tally, [*(f"none{i}" for i in range(absent)), *SHARES])
    assert [entry.value for entry in entries[:6]] == list(SHARES)
    # At 1 - 1e-9 nobody is named who is not there, and even the rarest of six is found.
    sure = decode(DESIGN, tally, [*SHARES, *ABSENT, *(f"none{i}" for i in range(60, absent))])
    assert {entry.value for entry in sure if entry.occurs} >= {
        "blue",
        "red",
        "green",
        "pink",
        "grey",
    }
    for entry in entries:
        truth = SHARES.get(entry.value, 0)
        assert abs(entry.share.raw - truth) < 7 * entry.share.standard_error


def test_what_is_found_is_there_and_intervals_hold(size):
    """After selection from a list in which nearly all are absent."""
    surveys = size(small=40, full=600, what="RAPPOR surveys with selected candidates")
    design = Rappor(bits=16, hashes=2, cohorts=16, f=0.25, p=0.25, q=0.75)
    values, names = people(20_000), [*SHARES, *(f"none{i}" for i in range(200))]
    false, missed, covered, intervals = 0, 0, 0, 0
    for _ in range(surveys):
        entries = decode(design, design.aggregate(design.randomize(values)), names)
        there = {entry.value for entry in entries if entry.occurs}
        false += bool(there - SHARES.keys())
        missed += not {"blue", "red", "green", "pink"} <= there
        for entry in entries:
            low, high = entry.share.raw + 1.96 * np.array([-1, 1]) * entry.share.standard_error
            covered += low <= SHARES.get(entry.value, 0) <= high
            intervals += 1
    assert intervals > 8 * surveys  # some of them absent: the test is about selection
    assert false <= 0.05 * surveys + 5 * np.sqrt(0.05 * 0.95 * surveys)
    assert missed <= 0.01 * surveys + 2
    assert covered / intervals > 0.95 - 5 * np.sqrt(0.05 * 0.95 / surveys / 6)


def test_values_missing_from_the_list_widen_the_errors():
    tally = DESIGN.aggregate(DESIGN.randomize(people(50_000)))
    whole, part = decode(DESIGN, tally, [*SHARES]), decode(DESIGN, tally, ["red", "teal"])
    errors = {entry.value: entry.share.standard_error for entry in whole}
    for entry in part:
        assert entry.share.standard_error > 1.5 * errors[entry.value]


def test_a_list_without_anybody():
    design = Rappor(bits=8, hashes=1, cohorts=2, f=0.25, p=0.25, q=0.75)
    tally = design.aggregate(design.randomize(["here"] * 5000))
    entries = decode(design, tally, [f"none{i}" for i in range(40)])
    assert len(entries) <= 0.8 * 8


def test_errors_are_as_stated(size):
    surveys = size(small=60, full=1500, what="RAPPOR surveys of 3,000 people")
    every, names = people(100), [*SHARES, "none"]
    squares, stated = [], []
    for _ in range(surveys):
        values = [every[i] for i in uniform_below(100, 3000)]  # other people each time
        entries = decode(DESIGN, DESIGN.aggregate(DESIGN.randomize(values)), names)
        squares += [(entry.share.raw - SHARES.get(entry.value, 0)) ** 2 for entry in entries]
        stated += [entry.share.standard_error**2 for entry in entries]
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


def test_many_candidates_and_few_people(size):
    """Weights from fitted shares named somebody who was not there in one survey of five."""
    surveys = size(small=60, full=1500, what="RAPPOR surveys of few people")
    design = Rappor(bits=16, hashes=2, cohorts=16)
    names, every = [*SHARES, *(f"none{i}" for i in range(114))], people(100)
    false, covered, intervals = 0, 0, 0
    for _ in range(surveys):
        values = [every[i] for i in uniform_below(100, 300)]
        for entry in decode(design, design.aggregate(design.randomize(values)), names):
            truth = SHARES.get(entry.value, 0)
            false += entry.occurs and not truth
            covered += abs(entry.share.raw - truth) <= 1.96 * entry.share.standard_error
            intervals += 1
    assert intervals == surveys * len(names)
    assert false <= 0.05 * surveys + 4 * np.sqrt(0.05 * 0.95 * surveys)
    assert covered / intervals > 0.94
