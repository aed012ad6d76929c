"""The paragraph on methods names what was used, and nothing else."""

from deniable.surveys.results.methods_text import methods_paragraph
from deniable.surveys.results.survey_results import find_results
from tests.surveys.collected import EVERY_KIND as EVERY
from tests.surveys.collected import ONE_QUESTION, answered, manifest_of, simulated


def test_one_look_and_one_question():
    manifest = manifest_of(ONE_QUESTION)
    text = methods_paragraph(find_results(manifest, [answered(manifest, 400, 600)]))
    for expected in (
        "1,000 reports arrived in 1 batch",
        manifest.hash,
        "epsilon at most 1.099 (delta 0)",
        "by at most 3.",
        "Clopper and Pearson",
        "Robbins",
        "first batch after 1,000 reports",
    ):
        assert expected in text
    assert "Fieller" not in text
    assert "REHEARSAL" not in text


def test_every_method_that_was_used_is_named():
    text = methods_paragraph(find_results(*simulated(EVERY, 100, rehearsal=True)))
    assert text.startswith("REHEARSAL")
    assert "Waudby-Smith" in text
    assert "Clopper" not in text  # no ordinary interval before the planned look
