"""Questionnaires are read strictly: a slip is refused by name, not ignored."""

import json
from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter
from deniable.surveys import lint, load, loads, plan

HEAD = 'id = "s"\ntitle = "t"\nepsilon = 2\n'
YES_NO = '[[questions]]\nid = "a"\nkind = "yes-no"\ntext = "?"\n'


def test_a_whole_questionnaire():
    survey = loads(
        """
        id = "s"
        title = { en = "Doping", de = "Doping im Sport" }
        epsilon = 2
        languages = ["en", "de"]
        [[questions]]
        id = "q1"
        kind = "single-choice"
        text = { en = "Which?", de = "Welches?" }
        options = [{ en = "none", de = "keines" }, { en = "one", de = "eines" }]
        prefer_not_to_say = true
        [[questions]]
        id = "q2"
        kind = "scale"
        text = { en = "How?", de = "Wie?" }
        points = 5
        private = false
        """
    )
    first, second = survey.questions
    assert first.labels("de") == ["keines", "eines", "keine Angabe"]
    assert (first.answers, second.answers) == (3, 5)
    assert second.labels("en") == ["1", "2", "3", "4", "5"]
    assert [question.id for question in survey.private] == ["q1"]
    assert survey.total_epsilon == Fraction(2)
    assert survey.question("q2") is second
    with pytest.raises(InvalidParameter, match="q1, q2"):
        survey.question("q3")


def test_json_is_read_too(tmp_path):
    content = {
        "id": "s",
        "title": "t",
        "epsilon": 1,
        "questions": [{"id": "a", "kind": "yes-no", "text": "?"}],
    }
    file = tmp_path / "s.json"
    file.write_text(json.dumps(content))
    assert load(file).questions[0].answers == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD + YES_NO + "prefer_not_to_sya = true", "question 1.*mean `prefer_not_to_say`"),
        (HEAD + YES_NO + "prefer_not_to_say = 1", "boolean"),
        (HEAD + YES_NO + YES_NO, "have the id a"),
        (HEAD, "questions"),
        (HEAD.replace("2", "0") + YES_NO, "epsilon"),
        (HEAD + YES_NO.replace("yes-no", "yesno"), "kind"),
        (HEAD + YES_NO.replace("yes-no", "single-choice"), "options"),
        (HEAD + YES_NO + 'options = ["x", "y"]', "options"),
        (HEAD + YES_NO.replace("yes-no", "scale"), "points"),
        (HEAD + YES_NO.replace("yes-no", "number"), "low"),
        (
            HEAD + YES_NO + "anchor=true\nprefer_not_to_say=true",
            "without `prefer_not_to_say`",
        ),
        (HEAD + YES_NO + "expected = [0.5, 0.6]", "add up"),
        (HEAD + YES_NO + "expected = [0.5]", "2 shares"),
        (HEAD + YES_NO + "expected = [1.5, -0.5]", "from 0 to 1"),
        (HEAD + YES_NO + "epsilon = 3", "epsilon 3"),
        (HEAD + YES_NO + "epsilon = 2\n" + YES_NO.replace('"a"', '"b"'), "more need"),
        ('languages = ["en", "de"]\n' + HEAD + YES_NO, "each language"),
        (HEAD + YES_NO.replace('"a"', '"A question"'), "pattern"),
        (HEAD + YES_NO.replace("yes-no", "scale") + "points=5\nanchor=true", "anchor"),
        ("id = ", "TOML"),
    ],
)
def test_slips_are_refused_by_name(text, told):
    with pytest.raises(InvalidParameter, match=told):
        loads(text)


def test_files(tmp_path):
    with pytest.raises(InvalidParameter, match=r"toml or \.json"):
        load(tmp_path / "s.yaml")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        load(tmp_path / "s.toml")
    with pytest.raises(InvalidParameter, match="JSON"):
        loads("{", form="json")


@pytest.mark.parametrize("use", [lint, plan])
def test_a_file_name_is_no_questionnaire(use):
    with pytest.raises(InvalidParameter, match=r"surveys\.load"):
        use("q.toml")
