import datetime

import pytest

from deniable.app.server.survey_pages import (
    hash_pages,
    pages_of,
    respondent_files,
    results_files,
)
from deniable.surveys.collect.store.batches import ReportBatch
from deniable.surveys.questionnaire.manifest import make_manifest
from deniable.surveys.questionnaire.questionnaire import loads
from tests.app.server import surveying

DAY = datetime.date(2026, 11, 17)


TEXT = surveying.TEXT.partition('[[questions]]\nid = "q1"')[0]  # one question is enough here


@pytest.fixture(scope="module")
def manifest():
    return make_manifest(loads(TEXT))


def batches(manifest, count):
    bodies = tuple(manifest.write_report({"q0": number % 2}) for number in range(60))
    return [ReportBatch(number + 1, DAY, bodies) for number in range(count)]


def test_the_page_depends_on_the_manifest_alone(manifest):
    assert respondent_files(manifest) == respondent_files(manifest)
    assert hash_pages(manifest) == hash_pages(manifest)
    other = make_manifest(loads(TEXT.replace("Question 0?", "Question zero?")))
    assert hash_pages(other)["page"] != hash_pages(manifest)["page"]


def test_results_offer_their_files(manifest):
    files = results_files(manifest, batches(manifest, 2), False, "secret")
    page = files[""].content.decode()
    for name in files:
        if name:
            assert f'href="secret/{name}"' in page
    assert {"results.csv", "reports.jsonl", "reproduce.R"} <= files.keys()


def test_without_batches_there_is_a_sentence(manifest):
    assert b"yet" in results_files(manifest, [], False, "secret")[""].content
    assert b"No reports" in results_files(manifest, [], True, "secret")[""].content


def test_an_empty_rehearsal_is_marked():
    rehearsal = make_manifest(loads(TEXT), rehearsal=True)
    page = results_files(rehearsal, [], False, "secret")[""].content.decode()
    assert "REHEARSAL" in page
    assert '<html lang="en">' in page
    assert "<title>Test</title>" in page


def test_results_are_made_once_for_each_batch(manifest, tmp_path):
    collection = surveying.open_survey(tmp_path, "open", text=TEXT)
    results = pages_of(collection).results
    first = results(manifest, batches(manifest, 1), False)
    assert results(manifest, batches(manifest, 1), False) is first
    assert results(manifest, batches(manifest, 2), False) is not first
    assert results(manifest, batches(manifest, 1), True) is not first
    collection.close()
