from fractions import Fraction

import pytest

from deniable.errors import InvalidQuery
from deniable.query.language.within_clause import AccuracyGoal, split_within_clause

ASK = "SELECT COUNT(*) FROM visits "


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("WITHIN 50", AccuracyGoal(Fraction(50))),
        ("within 2.5 confidence 0.9;", AccuracyGoal(Fraction(5, 2), None, Fraction(9, 10))),
        ("WITHIN .5 CONFIDENCE .99", AccuracyGoal(Fraction(1, 2), None, Fraction(99, 100))),
        ("WITHIN 1e3 -- thousand", AccuracyGoal(Fraction(1000))),
        ("WITHIN 5 PERCENT OF 10000", AccuracyGoal(Fraction(1, 20), Fraction(10_000))),
        (
            "WITHIN 5 % OF 200 CONFIDENCE 0.5 ;;",
            AccuracyGoal(Fraction(1, 20), Fraction(200), Fraction(1, 2)),
        ),
    ],
)
def test_the_last_words_are_read_and_cut_off(words, wanted):
    assert split_within_clause(ASK + words) == (ASK, wanted)


@pytest.mark.parametrize(
    "text",
    [
        ASK,
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost) FROM visits",
        'SELECT COUNT(*) AS "within" FROM visits',
        "SELECT COUNT(*) FROM visits WHERE note = 'within 50'",
        "SELECT COUNT(*) FROM visits -- WITHIN 50",
        "SELECT 'within",
        "",
        None,
    ],
)
def test_other_questions_are_left_alone(text):
    assert split_within_clause(text) == (text, None)


@pytest.mark.parametrize(
    "words",
    [
        "WITHIN 50 GROUP BY ward",
        "WITHIN 50 CONFIDENCE",
        "WITHIN 5 PERCENT",
        "WITHIN 5 PERCENT OF ward",
        "WITHIN 50 60",
        "WITHIN 1e999999999",
        "WITHIN 50 CONFIDENCE 1e-999999999",
    ],
)
def test_what_is_not_understood_is_refused(words):
    with pytest.raises(InvalidQuery, match="WITHIN 50"):
        split_within_clause(ASK + words)
