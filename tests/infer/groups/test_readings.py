import subprocess
import sys
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.groups.group_means import GroupMeans
from deniable.infer.groups.readings import GroupAmounts, group_columns, read

ROWS = pa.table(
    {
        "id": list(range(900)),
        "ward": ["A", "B", "B"] * 300,
        "sick": [1, 0, 1] * 300,
        "cost": [10.0, 20.0, 60.0] * 300,
    }
)


@pytest.fixture
def visits():
    return dp.protect(
        ROWS,
        name="visits",
        unit="id",
        bounds={"sick": (0, 1), "cost": (0, 100)},
        keys={"ward": ["A", "B"]},
        epsilon=1000,
        delta=1e-6,
    )


def test_a_mean_is_read_with_its_rows_and_its_variance(visits):
    text = "SELECT ward, COUNT(cost) AS n, AVG(cost) AS m, STDDEV(cost) AS d FROM visits"
    means = read(visits.sql(f"{text} GROUP BY ward", epsilon=100), None, None)
    assert isinstance(means, GroupMeans)
    assert means.groups == ("A", "B")
    assert means.below.round() == pytest.approx([300, 600])
    assert means.above == pytest.approx([3000, 24000], rel=0.02)
    assert (means.low, means.high) == (0, 100)
    assert means.variance.rooted
    assert means.variance.values == pytest.approx([0, 20], abs=2)


def test_the_limit_of_a_released_deviation_fails_as_rarely_as_it_says():
    """The noise is larger than the variance, so the deviation is often cut at 0."""
    x = np.tile([0.48, 0.5, 0.52], 60)
    rows = pa.table({"x": x})
    visits = dp.protect(rows, name="v", bounds={"x": (0, 1)}, step={"x": 0.01}, epsilon=500)
    text = "SELECT COUNT(x) AS n, AVG(x) AS m, STDDEV(x) AS d FROM v"
    cut, limits = [], []
    for i in range(30):  # a question that is asked again gets the same answer
        known = read(visits.sql(text, epsilon=2 + i / 1000), "m", None).variance
        cut.append(known.values[0] == 0)
        limits.append(known.most(Fraction(1, 1000))[0])
    assert 0.2 < np.mean(cut) < 0.8
    assert min(limits) > x.var(ddof=1)
    # Fifteen deviations of the noise: cut or not, limits are of one size.
    assert max(limits) < 12 * min(limits)


def test_a_share_is_read_from_two_counts(visits):
    text = "SELECT ward, COUNT(*) AS n, COUNT(*) FILTER (WHERE sick = 1) AS k FROM visits"
    release = visits.sql(f"{text} GROUP BY ward", epsilon=100)
    shares = read(release, "k", "n")
    assert shares.values == pytest.approx([1, 0.5], abs=0.01)
    assert (shares.low, shares.high, shares.variance) == (0, 1, None)
    amounts = read(release, "k", None)
    assert isinstance(amounts, GroupAmounts)
    assert amounts.values == pytest.approx([300, 300], abs=2)
    assert group_columns(release) == ("ward",)


def test_the_law_of_the_noise_is_that_of_the_plan(visits):
    release = visits.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.5)
    a = np.exp(-0.5)
    assert read(release, None, None).variance == pytest.approx(2 * a / (1 - a) ** 2)


@pytest.mark.parametrize(
    ("text", "value", "message"),
    [
        (
            "SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward",
            None,
            r"COUNT\(cost\) beside",
        ),
        (
            "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward",
            None,
            "Say which",
        ),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "m", "no noisy number 'm'"),
        ("SELECT ward, STDDEV(cost) AS d FROM visits GROUP BY ward", None, "neither a count"),
        (
            "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 1",
            None,
            "chose the groups",
        ),
        (
            "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 5",
            None,
            "chose the",
        ),
    ],
)
def test_what_has_no_valid_interval_is_refused_in_words(visits, text, value, message):
    with pytest.raises(InvalidParameter, match=message):
        read(visits.sql(text, epsilon=1), value, None)


def test_the_noise_that_chose_the_groups_is_refused():
    visits = dp.protect(ROWS, name="visits", unit="id", epsilon=10, delta=1e-6)
    text = "SELECT ward, COUNT(DISTINCT id) AS u, COUNT(*) AS n FROM visits GROUP BY ward"
    release = visits.sql(text, epsilon=5)
    with pytest.raises(InvalidParameter, match="also decided which groups are shown"):
        read(release, "u", None)
    assert read(release, "n", None).values == pytest.approx([300, 600], abs=20)


def test_several_rows_of_a_person_are_no_independent_draws():
    visits = dp.protect(
        ROWS,
        name="visits",
        unit="id",
        bounds={"sick": (0, 1)},
        keys={"ward": ["A", "B"]},
        max_rows_per_unit_per_group=3,
        epsilon=10,
    )
    text = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS s FROM visits GROUP BY ward"
    release = visits.sql(text, epsilon=5)
    with pytest.raises(InvalidParameter, match="One id may have 3 rows"):
        infer.proportions_test(release, "A", "B")
    with pytest.raises(InvalidParameter, match="One id may have 3 rows"):
        infer.anova_test(release)
    means = read(release, None, None)
    assert (means.cluster, means.shared) == (3, False)
    text = "SELECT ward, AVG(sick) AS s FROM visits GROUP BY ward FOR POPULATION"
    whole = visits.sql(text, epsilon=5)  # one row of each unit, with the sum of its rows
    assert whole.plan.max_rows_per_unit_per_group == 1
    for test in (
        lambda: infer.proportions_test(whole, "A", "B"),
        lambda: infer.anova_test(whole),
    ):
        with pytest.raises(InvalidParameter, match="One id may have 3 rows"):
            test()
    assert infer.t_test(whole, "A", "B").p_value <= 1


def test_a_ratio_without_limits_needs_its_squares():
    """It was once taken for a share, and cut to 1."""
    rows = pa.table({"id": range(1000), "cost": [10.0, 20.0] * 500})
    visits = dp.protect(rows, name="visits", unit="id", bounds={"cost": (0, 50)}, epsilon=100)
    text = "SELECT SUM(cost) / COUNT(*) AS m, COUNT(*) AS n FROM visits"
    with pytest.raises(InvalidParameter, match="ratio without public limits"):
        visits.sql(text, epsilon=20).population("m")
    (estimate,) = visits.sql(
        "SELECT SUM(cost) / COUNT(*) AS m FROM visits FOR POPULATION", epsilon=20
    ).population()
    assert estimate.low < 15 < estimate.high < 17


def test_only_releases_are_read():
    with pytest.raises(InvalidParameter, match="needs a Release; got Table"):
        read(ROWS, None, None)


def test_this_room_loads_no_engine():
    """What reads released numbers must not be able to read a row."""
    code = (
        "import sys, deniable.infer; "
        "print(any(name.startswith('deniable.engines') or name == 'duckdb' "
        "for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "False"


def test_no_value_of_a_row_is_in_a_message_or_a_result(visits):
    """A value that every row has, in a column that is not asked about, is nowhere."""
    canary = 918273645
    rows = ROWS.append_column("secret", pa.array([canary] * 900))
    data = dp.protect(
        rows, name="visits", bounds={"sick": (0, 1)}, keys={"ward": ["A", "B"]}, epsilon=10
    )
    text = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS s FROM visits GROUP BY ward"
    release = data.sql(text, epsilon=5)
    shown = [str(release.population()), repr(dp.infer.difference(release, "A", "B"))]
    with pytest.raises(InvalidParameter) as refused:
        dp.infer.difference(release, "A", "C")
    shown.append(str(refused.value))
    assert not [text for text in shown if str(canary) in text]
