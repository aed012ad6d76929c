import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.surveys import loads, parse_reports, read_reports, simulate

SURVEY = loads(
    'id="s"\ntitle="t"\nepsilon=2\n'
    '[[questions]]\nid="a"\nkind="yes-no"\ntext="?"\n'
    '[[questions]]\nid="b"\nkind="single-choice"\ntext="?"\n'
    f"options={[str(i) for i in range(30)]}\n"
)


def test_reports_survive_the_file(tmp_path):
    collected = simulate(SURVEY, 50).collected
    file = tmp_path / "reports.jsonl"
    file.write_text("\n".join(collected.lines()))
    again = read_reports(SURVEY, file)
    assert again.respondents == 50
    for name in ("a", "b"):
        assert np.array_equal(again.reports[name], collected.reports[name])


def test_both_answers_of_the_same_people():
    reports = parse_reports(SURVEY, ['{"a":1}', '{"a":0,"b":[1,2,3,4]}', "", '{"b":[5,6,7,8]}'])
    assert reports.respondents == 3
    a, b = reports.both("a", "b")
    assert a.tolist() == [0]
    assert b.tolist() == [[1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("lines", "told"),
    [([], "no reports"), (["{"], "Line 1"), (['{"z": 1}'], "Line 1"), (["[1]"], "Line 1")],
)
def test_lines_that_do_not_belong_are_refused(lines, told):
    with pytest.raises(InvalidData, match=told):
        parse_reports(SURVEY, lines)


def test_a_missing_file(tmp_path):
    with pytest.raises(InvalidData, match="cannot be read"):
        read_reports(SURVEY, tmp_path / "none")
