"""A list of questions under attack: exact and private answers side by side."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack import cross_tables, questions

RNG = np.random.default_rng(6)
PATIENTS = pa.table(
    {"id": np.arange(30), "ill": RNG.integers(0, 2, 30) == 1, "age": RNG.integers(0, 9, 30)}
)
DECLARED = {"bounds": {"id": (0, 30), "age": (0, 8)}, "step": {"age": 1}, "table": "patients"}


def ranges(count):
    low = RNG.integers(0, 20, count)
    return [
        f"SELECT COUNT(*) AS n FROM patients WHERE ill AND id BETWEEN {a} AND {b}"
        for a, b in zip(low.tolist(), (low + RNG.integers(1, 20, count)).tolist(), strict=True)
    ]


def test_exact_answers_give_everything_away_and_private_ones_little():
    chain = [f"SELECT COUNT(*) AS n FROM patients WHERE ill AND id < {i}" for i in range(1, 31)]
    finding = questions(PATIENTS, chain, secret="ill", epsilon=1, **DECLARED)
    assert finding.exact == 1
    assert finding.private < 0.8
    assert finding.differences.exposed == 30
    assert finding.sentence.startswith("With exact answers 100 % of the values of ill are ")
    assert "with epsilon 1, " in finding.sentence


def test_with_a_huge_epsilon_the_private_answers_are_as_good():
    chain = [f"SELECT COUNT(*) AS n FROM patients WHERE ill AND id < {i}" for i in range(1, 31)]
    finding = questions(PATIENTS, chain, secret="ill", epsilon=3000, draws=1, **DECLARED)
    assert finding.private > 0.95


def test_few_questions_give_little_away():
    total = ["SELECT COUNT(*) AS n FROM patients WHERE ill"]
    finding = questions(PATIENTS, total, secret="ill", **DECLARED)
    assert finding.exact == finding.baseline  # the attacker learns which value is more frequent
    assert finding.differences.exposed == 0


def test_published_cross_tables_are_attacked():
    finding = cross_tables(PATIENTS, [["id", "ill"]], secret="ill", draws=1, **DECLARED)
    assert finding.exact == 1
    coarse = cross_tables(PATIENTS, [["age", "ill"]], secret="ill", draws=1, **DECLARED)
    assert finding.baseline <= coarse.exact < 0.9


def test_private_cross_tables_of_declared_keys_are_those_of_sessions():
    rows = pa.table({"seat": np.arange(30), "ill": PATIENTS["ill"]})
    declared = {"keys": {"seat": list(range(30))}, "secret": "ill"}
    finding = cross_tables(rows, [["seat", "ill"], ["ill"]], **declared)
    assert (finding.exact, finding.questions) == (1, 2)
    assert finding.private < 0.85
    sure = cross_tables(rows, [["seat", "ill"]], epsilon=500, draws=1, **declared)
    assert sure.private == 1


def test_sums_are_attacked_too():
    sums = [f"SELECT SUM(age) AS s FROM patients WHERE ill AND id < {i}" for i in range(31)]
    finding = questions(PATIENTS, sums, secret="ill", draws=1, **DECLARED)
    counted = (np.asarray(PATIENTS["age"]) > 0).mean()
    assert finding.exact >= counted - 1e-9


def test_averages_beside_their_counts_are_attacked_as_sums():
    """Everybody is counted, and what is averaged depends on the secret."""
    texts = [
        f"SELECT AVG(CASE WHEN ill THEN 1 ELSE 0 END) AS share, COUNT(*) AS n FROM patients "
        f"WHERE id < {i}"
        for i in range(1, 31)
    ]
    finding = questions(PATIENTS, texts, secret="ill", epsilon=1, draws=1, **DECLARED)
    assert (finding.exact, finding.differences.exposed) == (1, 30)
    assert finding.private < 0.85
    sure = questions(PATIENTS, texts, secret="ill", epsilon=10**5, draws=1, **DECLARED)
    assert sure.private > 0.95


def test_averages_of_some_rows_only_are_not_taken_for_sums():
    texts = ["SELECT AVG(CASE WHEN ill THEN age END) AS a, COUNT(*) AS n FROM patients"]
    finding = questions(PATIENTS, texts, secret="ill", draws=1, **DECLARED)
    assert [number.times for number in finding.differences.numbers] == [None, None]


def test_questions_that_publish_nothing_about_the_table_are_refused():
    with pytest.raises(dp.InvalidParameter, match="No question of the list"):
        questions(PATIENTS, ["SELECT MEDIAN(age) AS m FROM patients"], secret="ill", **DECLARED)


def test_private_answers_are_not_in_the_finding():
    finding = questions(PATIENTS, ranges(5), secret="ill", draws=1, **DECLARED)
    assert not any(isinstance(value, np.ndarray) for value in vars(finding).values())


def test_averages_alone_give_secrets_away_and_private_ones_do_not():
    staff = pa.table({"id": range(24), "ill": [i % 3 == 0 for i in range(24)]})
    share = "SELECT AVG(CASE WHEN ill THEN 1 ELSE 0 END) AS a FROM data WHERE id < {}"
    finding = questions(staff, [share.format(i) for i in range(1, 25)], secret="ill", epsilon=1)
    assert (finding.exact, finding.numbers) == (1, 24)
    assert finding.private < 0.8
