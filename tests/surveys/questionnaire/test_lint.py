import pytest

from deniable.surveys import lint, loads
from deniable.surveys.questionnaire.lint import CHECKS

HEAD = 'id="s"\ntitle="t"\nwho="w"\nwhy="y"\nepsilon={}\n'
EXIT = "prefer_not_to_say=true\n"


def question(name, kind="yes-no", more=EXIT):
    return f'[[questions]]\nid="{name}"\nkind="{kind}"\ntext="About {name}?"\n{more}'


GOOD = HEAD.format(2) + question("a") + question("b")


def test_a_clean_questionnaire_has_no_findings():
    assert lint(loads(GOOD)) == []


@pytest.mark.parametrize(
    ("text", "level", "told"),
    [
        (GOOD + question("c", "text", ""), "error", "Free text"),
        (
            GOOD + question("c", more=EXIT + 'ask_if={question="a",answer="yes"}\n'),
            "error",
            "reveals the private answer to a",
        ),
        (
            GOOD + question("c", more=EXIT + 'ask_if={question="z",answer="yes"}\n'),
            "error",
            "not in this survey",
        ),
        (
            GOOD
            + question("c", more=EXIT + 'ask_if={question="d",answer="yes"}\n')
            + question("d", more="private=false\n"),
            "error",
            "asked later",
        ),
        (GOOD + question("c", more=""), "warning", "leave it out"),
        (GOOD + question("c", "number", "low=0\nhigh=9\n"), "warning", "leave it out"),
        (GOOD + question("name", more="private=false\n"), "warning", "may identify people"),
        (
            GOOD + question("c", "number", "low=0\nhigh=9\nprivate=false\n"),
            "warning",
            "may identify people",
        ),
        (HEAD.format(5) + question("a"), "warning", "148-fold"),
        (HEAD.format(0.3) + question("a") + question("b"), "warning", "very little"),
        ("waves=2\n" + GOOD, "warning", "cost epsilon again"),
        (
            'shuffler={who="Post",independent=true,strips=["identity"]}\n' + GOOD,
            "warning",
            "no amplification",
        ),
        (HEAD.format(2) + question("a", more="private=false\n"), "warning", "No question"),
    ],
)
def test_leaks_are_found(text, level, told):
    findings = [finding for finding in lint(loads(text)) if told in str(finding)]
    assert [finding.level for finding in findings][:1] == [level]


def test_public_skip_logic_is_fine():
    text = (
        HEAD.format(2)
        + question("a", more="private=false\n")
        + question("b", more=EXIT + 'ask_if={question="a",answer="yes"}\n')
    )
    assert lint(loads(text)) == []


def test_errors_come_first_and_every_check_is_used():
    text = "waves=9\n" + GOOD + question("c", "text", "")
    levels = [finding.level for finding in lint(loads(text))]
    assert levels == sorted(levels)
    assert len(CHECKS) == 14
