import pytest

from deniable.surveys import lint, loads

HEAD = 'id="s"\ntitle="t"\nwho="w"\nwhy="y"\nepsilon=4\n'
QUESTION = '[[questions]]\nid="a"\nkind="yes-no"\ntext="?"\n'
PUBLIC = '[[questions]]\nid="p"\nkind="yes-no"\ntext="?"\nprivate=false\n'


def findings(text):
    return [str(finding) for finding in lint(loads(text)) if "leave it out" not in str(finding)]


@pytest.mark.parametrize(
    ("design", "paper"),
    [
        ('design="two-coins"', "two-coins"),
        ('design="die"', "die"),
        ('design="cards"', "cards"),
        ('design="cards"', "spinner"),
        ("odds=4\nprefer_not_to_say=true", "die"),
        ("odds=35", "two-dice"),
    ],
)
def test_paper_that_draws_the_channel(design, paper):
    assert findings(f'{HEAD}{QUESTION}{design}\npaper="{paper}"\n') == []


@pytest.mark.parametrize(
    ("design", "paper"),
    [
        ('design="two-coins"', "die"),
        ('design="die"', "two-coins"),
        ("epsilon=1", "spinner"),
        ("odds=50", "spinner"),
    ],
)
def test_paper_that_draws_something_else(design, paper):
    (finding,) = findings(f'{HEAD}{QUESTION}{design}\npaper="{paper}"\n')
    assert finding.startswith(f"error: a: On paper, {paper} does not draw the channel")


def test_a_number_has_no_paper():
    text = QUESTION.replace("yes-no", "number") + 'low=0\nhigh=9\npaper="spinner"\n'
    (finding,) = findings(HEAD + text)
    assert "does not draw" in finding


def test_who_asks_and_why():
    (finding,) = findings(HEAD.replace('who="w"\n', "") + QUESTION)
    assert "Give `who`." in finding
    assert findings(HEAD + QUESTION) == []


def test_conditions_that_cannot_be():
    text = PUBLIC + QUESTION + 'ask_if={question="p",answer="yes"}\n'
    assert findings(HEAD + text) == []
    (finding,) = findings(HEAD + text.replace('answer="yes"', 'answer="perhaps"'))
    assert "p has no answer 'perhaps'" in finding
    (finding,) = findings(HEAD + 'collection="one-question-each"\n' + text)
    assert "could draw it for a person who is not to be asked" in finding


def test_a_page_in_another_language():
    arabic = (HEAD + QUESTION).replace("epsilon=4\n", 'epsilon=4\nlanguages=["ar"]\n')
    assert any("texts in English for ar" in finding for finding in findings(arabic))


def test_a_promise_in_other_words():
    words = '[words]\npage_link_token="Nobody."\n'
    (finding,) = findings(HEAD + QUESTION + words)
    assert finding.startswith("error")
    assert "page_link_token" in finding
    assert findings(HEAD + QUESTION + '[words]\npage_begin="Go"\n') == []
    arabic = (HEAD + QUESTION).replace("epsilon=4\n", 'epsilon=4\nlanguages=["ar"]\n')
    assert any(
        "in your own words: page_link_token" in finding for finding in findings(arabic + words)
    )
