"""Tables of any two designs: recovered, with errors as theory has them."""

import numpy as np
import pytest

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact import categorical, uniform_below
from deniable.exact.rationals import rational
from deniable.mechanisms import OUE, RandomizedResponse
from deniable.surveys import crosstab
from deniable.surveys.estimate.unbiased_readings import reader_for
from tests.surveys.designs import DESIGNS, answers, meaning, moments

PAIRS = [
    ("yes/no", "OUE"),
    ("OUE", "OLH"),
    ("Hadamard", "subset"),
    ("ordinal", "OUE"),
    ("hybrid", "three"),
    ("Duchi", "piecewise"),
    ("number or not", "OLH"),
    ("square wave", "ordinal"),
    ("boxes at once", "lopsided"),
    ("box by box", "OUE"),
    ("boxes or not", "number or not"),
]


def joint(count, other):
    """Chances of pairs of answers, which depend on each other."""
    table = 1.0 + (np.arange(count)[:, None] * 7 + np.arange(other) * 3) % 5
    table += 4 * (np.arange(count)[:, None] == np.arange(other))
    return table / table.sum()


def drawn(chances, people):
    """Pairs of answers by these chances."""
    weights = [round(float(x) * 10**9) for x in chances.ravel()]
    cells = categorical(weights, [rational(0)] * len(weights), people)
    return np.divmod(cells, chances.shape[1])


def ask_both(names, people):
    """Two designs, the true table, and both reports of some people."""
    designs = [DESIGNS[name] for name in names]
    every = [answers(each) for each in designs]
    chances = joint(*(len(each) for each in every))
    who = drawn(chances, people)
    reports = [d.randomize(a[w]) for d, a, w in zip(designs, every, who, strict=True)]
    truth = meaning(designs[0]).T @ chances @ meaning(designs[1])
    return designs, chances, truth, reports


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_any_two_designs_are_recovered(names, size):
    people = size(small=20_000, full=200_000, what="people in tables of all designs")
    designs, _, truth, reports = ask_both(names, people)
    table = crosstab(*designs, tuple(reports))
    assert table.raw.shape == truth.shape
    assert (np.abs(table.raw - truth) < 7 * table.standard_error).all()
    assert np.diag(table.covariance).reshape(truth.shape) == pytest.approx(table.variance)
    assert table.independence().p_value < 1e-6 or people < 200_000
    assert (table.value >= 0).all()
    quick = crosstab(*designs, tuple(reports), covariances=False)
    assert quick.standard_error == pytest.approx(table.standard_error)
    assert table.loss.epsilon() == pytest.approx(sum(d.loss.epsilon() for d in designs))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_squared_errors_are_those_of_theory(names, size):
    groups = size(small=300, full=2000, what="tables of 100 people for all designs")
    designs, chances, truth, reports = ask_both(names, 100 * groups)
    squares = [moments(each, reader_for(each))[1] for each in designs]
    theory = (squares[0].T @ chances @ squares[1] - truth**2) / 100
    parts = [np.array_split(each, groups) for each in reports]
    tables = [crosstab(*designs, pair) for pair in zip(*parts, strict=True)]
    measured = np.mean([(each.raw - truth) ** 2 for each in tables], axis=0)
    # 6 free cells or more: the ratio has a standard deviation of 2 % at 2,000 tables.
    within = 0.1 if groups >= 2000 else 0.35
    assert measured.sum() == pytest.approx(theory.sum(), rel=within)
    stated = np.mean([each.variance for each in tables], axis=0)
    assert stated.sum() == pytest.approx(theory.sum(), rel=within)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_independence_is_tested_at_its_level(names, size):
    tables = size(small=300, full=2000, what="tables of 400 people without association")
    designs = [DESIGNS[name] for name in names]
    every = [answers(each) for each in designs]
    chances = np.full([len(each) for each in every], 1.0 / len(every[0]) / len(every[1]))
    who = drawn(chances, 400 * tables)
    reports = [d.randomize(a[w]) for d, a, w in zip(designs, every, who, strict=True)]
    parts = [np.array_split(each, tables) for each in reports]
    tests = [crosstab(*designs, pair).independence() for pair in zip(*parts, strict=True)]
    rejected = np.mean([each.p_value < 0.05 for each in tests])
    # 0.05 in the limit; readings have heavier tails than counts, so some leeway is left.
    assert abs(rejected - 0.05) < 0.02 + 5 * np.sqrt(0.05 * 0.95 / tables)
    sides = [reader_for(each) for each in designs]
    freedom = [each.answers - each.adds_up for each in sides]
    assert tests[0].freedom == freedom[0] * freedom[1]


def test_means_of_a_number_by_group():
    number, group = DESIGNS["hybrid"], DESIGNS["three"]
    who = np.arange(200_000) % 3
    values = np.array([1, 2, 4])[who]
    reports = number.randomize(values), group.randomize(who)
    for table in (crosstab(number, group, reports), crosstab(group, number, reports[::-1])):
        means = table.means()
        assert len(means) == 3
        for mean, truth in zip(means, (1, 2, 4), strict=True):
            assert abs(mean.raw - truth) < 7 * mean.standard_error
            assert mean.standard_error < 0.1
    declining = DESIGNS["number or not"]
    said = np.where(who == 2, np.nan, values.astype(float))
    pair = declining.randomize(said), group.randomize(who)
    first, second, third = crosstab(declining, group, pair).means()
    assert abs(first.raw - 1) < 7 * first.standard_error
    assert abs(second.raw - 2) < 7 * second.standard_error
    assert third.standard_error > 0.5  # nobody there said a number
    with pytest.raises(Unsupported, match="needs a question for a number"):
        crosstab(group, group, (who, who)).means()


def test_numbered_reports_give_the_textbook():
    """A^-1 R B^-1' and Pearson's chi-square."""
    three, four = RandomizedResponse(odds=6, categories=3), DESIGNS["ordinal"]
    counts = np.array([[120, 80, 60, 40], [70, 90, 60, 30], [50, 50, 90, 60]])
    table = crosstab(three, four, counts=counts)
    a, b = (np.linalg.inv(np.array(design.matrix, dtype=float)) for design in (three, four))
    assert table.raw == pytest.approx(a @ counts @ b.T / 800)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / 800
    pearson = ((counts - expected) ** 2 / expected).sum()
    assert table.independence().statistic == pytest.approx(pearson)
    assert table.independence().freedom == 6


def test_requests_that_cannot_be_met():
    wide = OUE(odds=3, categories=600)
    coins = RandomizedResponse(odds=3)
    reports = wide.randomize([1, 2, 3]), coins.randomize([1, 0, 1])
    with pytest.raises(InvalidParameter, match="covariances=False"):
        crosstab(wide, coins, reports)
    table = crosstab(wide, coins, reports, covariances=False)
    assert table.raw.shape == (600, 2)
    with pytest.raises(Unsupported, match="Maximum likelihood"):
        table.maximum_likelihood()
    with pytest.raises(InvalidParameter, match="reports themselves"):
        crosstab(wide, coins, counts=[[1, 2]] * 600)


def test_the_worst_cell_of_a_small_table_is_covered(size):
    """Normal intervals covered 89 to 92 % of the rare cells."""
    surveys = size(small=250, full=4000, what="tables of two questions for thirty people")
    coins = RandomizedResponse(odds=3, categories=4)
    true = np.full((4, 4), 0.01)
    true[0, 0] = 0.85
    held = np.zeros((4, 4))
    for _ in range(surveys):
        cells = np.where(uniform_below(100, 30) < 85, 0, 1 + uniform_below(15, 30))
        reports = coins.randomize(cells // 4), coins.randomize(cells % 4)
        low, high = crosstab(coins, coins, reports).interval()
        held += (low <= true) & (true <= high)
    assert held.min() / surveys >= 0.95 - 4.5 * (0.0475 / surveys) ** 0.5
