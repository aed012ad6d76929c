"""The whole way: one charge, a free repeat, and answers that quote what was measured."""

import pytest

import deniable as dp
from tests.release.limits.worlds import KEYS, session

PEOPLE = 4000
ROWS = [(who, KEYS[(who + i // 2) % 3]) for who in range(PEOPLE) for i in range(who % 5 + 1)]
BY_DIAGNOSIS = "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis"


@pytest.fixture(scope="module")
def data():
    with session(ROWS, epsilon=10_000) as opened:
        yield opened


@pytest.fixture(scope="module")
def measurement(data):
    return data.limits("visits", by="diagnosis", epsilon=400)


def test_one_charge_for_both_histograms_and_the_same_again_is_free():
    with session(ROWS, epsilon=3) as data:
        first = data.limits("visits", by="diagnosis", epsilon=2)
        assert data.remaining.epsilon == 1
        assert not first.repeated
        again = data.limits("visits", by="diagnosis", epsilon=2)
        assert again.repeated
        assert again.histograms == first.histograms
        assert data.remaining.epsilon == 1
        with pytest.raises(dp.BudgetExhausted):
            data.limits("visits", by="diagnosis", epsilon=1.5)


def test_the_histograms_are_those_of_the_table(measurement):
    groups, rows = measurement.histograms.groups, measurement.histograms.rows
    # People with 1 to 5 rows have 1, 1, 2, 2, 3 groups, of two rows each or one.
    assert groups.counts == pytest.approx((1600, 1600, 800), abs=60)
    assert rows.counts[:3] == pytest.approx((2400, 4800, 0), abs=120)


def test_the_shares_are_those_of_the_table(measurement):
    whole = len(ROWS)
    kept_by_today = sum(min(2, (who % 5 + 2) // 2) for who in range(PEOPLE))
    share = measurement.choice(groups=2, rows=1).left_out
    assert share.low <= 1 - kept_by_today / whole <= share.high
    assert measurement.recommended.groups == 3
    assert measurement.recommended.rows == 2
    assert measurement.choice(groups=3, rows=2).left_out.high < 0.05
    assert measurement.choice(groups=3, rows=2).margin == 3 * 2 * 3


def test_answers_over_the_measured_groups_quote_it(data, measurement):
    answer = data.sql(BY_DIAGNOSIS, epsilon=1)
    assert answer.left_out == measurement.quote
    assert "2 groups with 1 row in each leaves out about" in str(answer)
    assert "3 groups and 20 rows" in answer.left_out
    assert measurement.quote in answer._repr_html_().replace("&#x27;", "'")
    ordered = data.sql(f"{BY_DIAGNOSIS} ORDER BY n", epsilon=1)
    assert ordered.left_out == measurement.quote


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) AS n FROM visits",
        f"{BY_DIAGNOSIS.replace('GROUP', 'WHERE patient > 5 GROUP')}",
        "SELECT diagnosis, COUNT(DISTINCT patient) AS n FROM visits GROUP BY diagnosis",
        "SELECT diagnosis, SUM(CLAMP(patient, 0, 9)) AS n FROM visits GROUP BY diagnosis",
        "SELECT diagnosis, COUNT(*) AS n FROM (SELECT patient, diagnosis FROM visits "
        "GROUP BY patient, diagnosis) GROUP BY diagnosis",
    ],
)
def test_answers_about_anything_else_do_not(data, measurement, question):
    assert data.sql(BY_DIAGNOSIS, epsilon=1).left_out == measurement.quote
    assert data.sql(question, epsilon=1).left_out == ""


def test_a_part_of_the_table_has_its_own_measurement():
    with session(ROWS, epsilon=100) as data:
        data.limits("visits", by="diagnosis", epsilon=1)
        part = data.partition("diagnosis", ["A", "B"])["A"]
        assert part.sql(BY_DIAGNOSIS, epsilon=1).left_out == ""
        measured = part.limits("visits", epsilon=10)
        kept = sum(1 for who in range(PEOPLE) if (who, "A") in set(ROWS))
        assert sum(measured.histograms.rows.counts) == pytest.approx(kept, abs=60)


def test_without_keys_one_histogram_takes_the_whole_price(data):
    measured = data.limits("visits", epsilon=400)
    assert measured.histograms.groups is None
    assert measured.plans[0].blocks[0].mechanism.sensitivity == 1
    assert measured.recommended.rows == 5
    assert "max_groups" not in str(measured)
    assert data.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5).left_out == measured.quote
