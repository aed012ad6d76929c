"""Files of reports in three forms."""

import datetime

import pytest

from deniable.errors import InvalidData
from deniable.surveys.results.report_files import (
    is_sent_form,
    parse_report_lines,
    read_report_file,
)
from deniable.surveys.results.result_files import export_files
from deniable.surveys.results.survey_results import find_results
from tests.surveys.collected import EVERY_KIND, ONE_QUESTION, manifest_of, simulated


def test_an_export_is_read_back_as_it_was(tmp_path):
    manifest, batches = simulated(EVERY_KIND, 150)
    file = tmp_path / "reports.jsonl"
    file.write_bytes(export_files(find_results(manifest, batches))["reports.jsonl"])
    assert read_report_file(manifest, file) == [(day, [*bodies]) for day, bodies in batches]
    assert is_sent_form(file)


def test_reports_by_question_are_one_batch(tmp_path):
    manifest = manifest_of(ONE_QUESTION)
    day = datetime.date(2026, 11, 17)
    ((when, bodies),) = parse_report_lines(manifest, '{"doping":1}\n\n{"doping":0}\n', day=day)
    assert when == "2026-11-17"
    assert [manifest.read_report(body)["doping"] for body in bodies] == [1, 0]
    file = tmp_path / "r.jsonl"
    file.write_text('{"doping":1}\n')
    assert not is_sent_form(file)
    assert not is_sent_form(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("", "no reports"),
        ("[1]", "Line 1 is not an object"),
        ('{"doping":1}\n{"doping":2}', "Line 2"),
        ('{"doping":1}\n{"doping":"x"}', "Line 2: A report does not fit"),
        ('{"sport":1}', "Line 1: It is not an object with questions"),
        ('{"v":1,"s":"00","a":[]}', "Line 1: The report is of another manifest"),
        ('{"batch":"a","day":"2026-11-17","report":{}}', "no batch and day"),
    ],
)
def test_lines_that_do_not_fit_are_refused(lines, why):
    with pytest.raises(InvalidData, match=why):
        parse_report_lines(manifest_of(ONE_QUESTION), lines)


def test_a_batch_has_one_day():
    manifest = manifest_of(ONE_QUESTION)
    body = manifest.write_report({"doping": 1}).decode()
    lines = [f'{{"batch":1,"day":"2026-11-{day}","report":{body}}}' for day in ("17", "18")]
    with pytest.raises(InvalidData, match="Line 2: batch 1 has two days"):
        parse_report_lines(manifest, "\n".join(lines))
