from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import hypergeom

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.anova import anova_p
from deniable.infer.groups import mean_intervals
from deniable.infer.groups.local_shares import read_local
from deniable.infer.proportion_tests import reports_p, two_shares_p
from deniable.infer.table_tests import _as_counts, fit_p, read_table
from tests.infer import naive
from tests.infer.simulated import excludes, few_errors

COINS = dp.RandomizedResponse(odds=3)
LEVEL = Fraction(19, 20)


def test_surveys_share_the_words_of_tables():
    answers = {"A": (COINS, (600, 400)), "B": (COINS, (700, 300))}
    estimate = infer.difference(answers, "A", "B")
    assert estimate.value == pytest.approx(0.2)
    assert estimate.low < 0.2 < estimate.high
    assert estimate.p_value <= 0.005
    assert estimate.what == "share of A less that of B"
    assert infer.ratio(answers, "A", "B").low > 1
    assert infer.odds_ratio(answers, "A", "B").low > 1
    assert len(infer.all_pairs(answers)) == 1
    assert infer.t_test(answers, "A", "B").rejects()
    assert not infer.equivalence_test(answers, "A", "B", within=0.1).rejects()
    assert infer.trend(answers, scores=[0, 1]).high < 0


def test_local_noise_is_stated_apart():
    shares = read_local({"A": (COINS, (6000, 4000))})
    level = LEVEL
    whole, noise, sampling = (
        float(high[0] - low[0])
        for low, high in (
            shares.population_ends(level),
            shares.noise_ends(level),
            shares.sampling_ends(level),
        )
    )
    assert np.hypot(noise, sampling) == pytest.approx(whole, rel=0.02)
    assert noise > 1.5 * sampling


def test_differences_of_surveys_are_covered(size, figure):
    releases = size(small=200, full=10_000, what="simulated surveys")
    rng = np.random.default_rng(4)
    missed = []
    for _ in range(releases):
        groups = {}
        for key, share, people in (("A", 0.3, 400), ("B", 0.1, 900)):
            yes = int(rng.binomial(people, float(COINS.q + (COINS.p - COINS.q) * share)))
            groups[key] = COINS, (people - yes, yes)
        parts = read_local(groups)
        low, high = mean_intervals.contrast_ends(
            [parts.at(0), parts.at(1)],
            [1, -1],
            mean_intervals.population_ends,
            Fraction(19, 20),
        )
        missed.append(not low <= 0.2 <= high)
    assert few_errors(figure, missed)


SCALE = dp.Ordinal(epsilon=2, categories=5)
CHOICE = dp.RandomizedResponse(odds=6, categories=4)


def ask_groups(rng, design, groups):
    """What groups of people with these shares of answers report."""
    matrix = np.array(design.matrix, dtype=float)
    return {
        key: (design, tuple(rng.multinomial(people, matrix @ shares)))
        for key, (people, shares) in groups.items()
    }


def test_several_answers_and_scales_have_the_same_functions():
    rng = np.random.default_rng(2)
    pain = {"A": (3000, [0.4, 0.3, 0.1, 0.1, 0.1]), "B": (3000, [0.1, 0.1, 0.2, 0.3, 0.3])}
    estimate = infer.difference(ask_groups(rng, SCALE, pain), "B", "A")
    assert estimate.what == "mean of B less that of A"
    assert estimate.low < 1.4 < estimate.high
    assert estimate.noise[1] - estimate.noise[0] < estimate.high - estimate.low
    top = infer.difference(ask_groups(rng, SCALE, pain), "B", "A", value=4)
    assert top.what == "share of answer 4 of B less that of A"
    assert top.low < 0.2 < top.high
    party = {"A": (4000, [0.5, 0.3, 0.1, 0.1]), "B": (4000, [0.3, 0.3, 0.3, 0.1])}
    polled = ask_groups(rng, CHOICE, party)
    assert infer.difference(polled, "A", "B", value=0).low > 0
    assert infer.proportions_test(polled, "A", "B", value=2).rejects()
    assert not infer.proportions_test(polled, "A", "B", value=1).rejects()
    assert infer.independence_test(polled).rejects()
    assert infer.anova_test(polled, value=0).rejects()
    assert infer.rank_test(ask_groups(rng, SCALE, pain)).rejects()
    only = {"A": polled["A"]}
    assert not infer.fit_test(only, [0.5, 0.3, 0.1, 0.1]).rejects()
    assert infer.fit_test(only, [0.4, 0.4, 0.1, 0.1]).rejects()
    tested = infer.proportion_test(polled, 0.5, group="B", value=0)
    assert tested.rejects()
    assert tested.hypothesis == "the share of answer 0 in B is 0.5"
    assert not infer.proportion_test(only, 0.5, value=0).rejects()
    tallies = {key: dp.Tally(design, counts, 4000) for key, (design, counts) in polled.items()}
    assert infer.difference(tallies, "A", "B", value=0) == infer.difference(
        polled, "A", "B", value=0
    )


def test_one_share_is_that_of_the_answers_not_of_the_reports():
    """Warner's cards with p below 1/2: more reports of "yes" speak for fewer yeses."""
    cards = dp.RandomizedResponse.warner(0.25)
    few = {"A": (cards, (300, 700))}  # 10 % of the answers
    assert infer.proportion_test(few, 0.1).p_value > 0.9
    assert infer.proportion_test(few, 0.3, alternative="less").p_value < 0.001
    assert infer.proportion_test(few, 0.3, alternative="greater").p_value > 0.99


def straight(tables, design):
    """How many gave each answer, by tables of reports of shape (releases, groups, answers)."""
    inverse = np.linalg.inv(np.array(design.matrix, dtype=float))
    return np.maximum(tables @ inverse.T, 0.0)


PEOPLE = [((50, 50), 5), ((200, 2000), 1), ((50_000, 500), 0.1), ((50_000, 50_000), 2)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("test", ["ranks", "independence"])
@pytest.mark.parametrize(("people", "epsilon"), PEOPLE)
def test_groups_that_answer_alike_seldom_seem_to_differ(people, epsilon, test, size, figure):
    releases = size(small=40, full=10_000, what="simulated surveys")
    rng = np.random.default_rng(people[1])
    level = Fraction(str(epsilon))
    if test == "ranks":
        design, shares = dp.Ordinal(epsilon=level, categories=5), [0.7, 0.15, 0.1, 0.03, 0.02]
        p_of, plain = infer.rank_tests.ranks_p, naive.ranks_differ
    else:
        design = dp.RandomizedResponse(epsilon=level, categories=4)
        shares = [0.9, 0.05, 0.03, 0.02]
        p_of, plain = infer.table_tests.independence_p, naive.dependent
    reported = np.array(design.matrix, dtype=float) @ shares
    tables = rng.multinomial(people, reported, (releases, 2)).astype(float)
    counts = read_table({key: (design, (1,) * len(shares)) for key in "AB"}, None)[0]
    wrong = [p_of(table, counts, level=0.05)[1] <= 0.05 for table in tables]
    assert few_errors(figure, wrong, plain(straight(tables, design)))


@pytest.mark.parametrize("cells", [((8, 2), (1, 5)), ((30, 3), (20, 9)), ((4, 4), (4, 4))])
def test_reports_of_two_groups_have_the_exact_p_value_given_their_margins(cells):
    """By all tables with the same margins, as in Fisher's test, and 0.1 %."""
    table = np.array(cells, dtype=float)
    counts = read_table(dict.fromkeys("AB", (COINS, (1, 1))), None)[0]
    observed, p = infer.table_tests.independence_p(table, counts)
    total, rows, yes = int(table.sum()), int(table[0].sum()), int(table[:, 0].sum())
    first = np.arange(max(0, rows + yes - total), min(rows, yes) + 1)
    tables = [[[k, rows - k], [yes - k, total - rows - yes + k]] for k in first]
    statistics = infer.table_tests._independence(np.array(tables, dtype=float), 0.0)
    law = hypergeom(total, yes, rows).pmf(first)
    assert p == pytest.approx(law[statistics >= observed - 1e-9].sum() + 0.001, abs=0.012)


YES = [
    ((50, 50), 5, 0.3),
    ((50, 500), 1, 0.02),
    ((50_000, 5_000), 0.1, 0.02),
    ((50_000, 50_000), 5, 0.002),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("people", "epsilon", "share"), YES)
def test_equal_shares_of_yes_seldom_seem_to_differ(people, epsilon, share, size, figure):
    """By the test of two shares, the analysis of variance, one share, fit and the interval."""
    releases = size(small=40, full=10_000, what="simulated surveys")
    rng = np.random.default_rng(people[1])
    coins = dp.RandomizedResponse(epsilon=Fraction(str(epsilon)))
    rate = float(coins.q + (coins.p - coins.q) * Fraction(str(share)))
    yes = rng.binomial(people, rate, (releases, 2))
    wrong = {name: [] for name in ("two shares", "anova", "one share", "fit", "difference")}
    for counts in yes:
        shares = read_local(
            {
                key: (coins, (n - k, k))
                for key, n, k in zip("AB", people, counts.tolist(), strict=True)
            }
        )
        reports = shares.report_shares()
        wrong["two shares"].append(two_shares_p(reports.at(0), reports.at(1), level=0.05)[1])
        wrong["anova"].append(anova_p(reports, level=0.05)[1])
        first = shares.at(0)
        wrong["one share"].append(reports_p(first, Fraction(str(share)), "two-sided")[1])
        wrong["fit"].append(fit_p(_as_counts(first), np.array([1 - rate, rate]), level=0.05)[1])
        ends = mean_intervals.contrast_ends(
            [shares.at(0), shares.at(1)], [1, -1], mean_intervals.population_ends, LEVEL
        )
        wrong["difference"].append(0.0 if excludes(ends) else 1.0)
    tables = np.stack([np.array(people) - yes, yes], axis=2).astype(float)
    plain = naive.dependent(straight(tables, coins))
    for name, p in wrong.items():
        figure(name)
        assert few_errors(figure, np.array(p) <= 0.05, plain)


@pytest.mark.parametrize("share", [0.02, 0.4])
def test_means_of_scales_are_covered(share, size, figure):
    """The interval of a difference of means of a scale holds both errors."""
    releases = size(small=200, full=10_000, what="simulated surveys on a scale")
    rng = np.random.default_rng(6)
    first, second = [1 - share, 0, 0, share, 0], [1 - share, 0, share, 0, 0]
    missed = []
    for _ in range(releases):
        means = read_local(ask_groups(rng, SCALE, {"A": (500, first), "B": (800, second)}))
        parts = [means.at(0), means.at(1)]
        low, high = mean_intervals.contrast_ends(
            parts, [1, -1], mean_intervals.population_ends, Fraction(19, 20)
        )
        missed.append(not low <= share <= high)
    assert few_errors(figure, missed)


def test_what_is_no_group_of_a_survey_is_refused():
    with pytest.raises(InvalidParameter, match="Found 'A' with another value"):
        infer.difference({"A": (COINS, (1, 2, 3)), "B": (COINS, (1, 2))}, "A", "B")
    with pytest.raises(InvalidParameter, match="no group to compare"):
        infer.difference({}, "A", "B")
    with pytest.raises(InvalidParameter, match="Nobody of 'A'"):
        infer.difference({"A": (COINS, (0, 0)), "B": (COINS, (1, 2))}, "A", "B")
    for counts in ((-5, 10), (600.7, 400), (float("nan"), 3)):
        with pytest.raises(InvalidParameter, match="`count` must be a whole number, 0 or more"):
            infer.proportion_test({"A": (COINS, counts)}, 0.5)
    other = dp.RandomizedResponse(odds=2)
    mixed = {"A": (COINS, (50, 20)), "B": (other, (10, 20))}
    assert infer.difference(mixed, "A", "B").low < 1
    for test in (infer.independence_test, infer.rank_test, infer.anova_test):
        with pytest.raises(InvalidParameter, match="asked through one design"):
            test(mixed)
    several = {"A": (CHOICE, (9, 8, 7, 6)), "B": (CHOICE, (9, 8, 7, 6))}
    with pytest.raises(InvalidParameter, match="value=0 to value=3"):
        infer.difference(several, "A", "B")
    with pytest.raises(InvalidParameter, match=r"from 0 to 3\. Found 4"):
        infer.difference(several, "A", "B", value=4)
    with pytest.raises(InvalidParameter, match="the same question"):
        infer.difference({**several, "B": (COINS, (1, 2))}, "A", "B")
    points = {"A": (SCALE, (9, 8, 7, 6, 5)), "B": (SCALE, (9, 8, 7, 6, 5))}
    with pytest.raises(InvalidParameter, match="also depend on the others"):
        infer.proportions_test(points, "A", "B", value=1)
    with pytest.raises(InvalidParameter, match="Name one of the 2 groups"):
        infer.fit_test(several, [0.25] * 4)
