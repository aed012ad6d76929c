import pytest

from deniable.policy.file import parse
from deniable.policy.policy_lint import lint_policy

FINE = """[budget]
epsilon = 1
delta = 1e-6
[tables.visits]
source = "visits.csv"
unit = "patient"
expected_rows = 2000
[tables.visits.columns]
cost = { bounds = [0, 100], step = 1 }
ward = { keys = "private" }
"""


def test_a_careful_policy_has_no_finding():
    assert lint_policy(FINE, parse(FINE)) == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("epsilon = 1", "epsilon = 8", 2, "nearly sure"),
        ("delta = 1e-6", "delta = 0.001", 3, "at least one in the 2,000 rows"),
        ('unit = "patient"\n', "", 4, "each row is protected by itself"),
        ('unit = "patient"', "public = true", 6, "not protected at all"),
        ("step = 1", "step = 20", 9, "20 % of its range"),
        ("delta = 1e-6", "", 10, "needs a `delta`"),
    ],
)
def test_what_is_legal_and_unwise_is_told_with_its_line(old, new, line, words):
    text = FINE.replace(old, new, 1)
    [finding] = lint_policy(text, parse(text))
    assert finding.line == line
    assert words in finding.message
    assert str(finding).startswith(f"line {line}: ")


def test_findings_are_in_the_order_of_their_lines():
    text = FINE.replace("epsilon = 1", "epsilon = 8").replace("step = 1", "step = 50")
    lines = [finding.line for finding in lint_policy(text, parse(text))]
    assert lines == sorted(lines)
    assert len(lines) == 2
