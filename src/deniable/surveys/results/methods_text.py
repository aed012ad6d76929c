"""A paragraph on methods, for a paper or a press release, written from the results."""

from deniable.exact.text_formats import factor_up
from deniable.privacy.losses.hypothesis_testing import odds_factor
from deniable.surveys.results.privacy_sentences import survey_loss
from deniable.surveys.results.survey_results import SurveyResults

_METHODS = {
    "binomial": "Shares have exact binomial intervals (Clopper and Pearson 1934), mapped "
    "through the channel.",
    "fieller": "Ratios of means, such as shares within groups that are randomized themselves, "
    "have Fieller's interval (1954), which is approximate.",
    "beta-binomial": "Intervals for any look are beta-binomial confidence sequences (Robbins "
    "1970), mapped through the channel: they hold at every look at once.",
    "betting": "Means, and ratios of means, have intervals by betting (Waudby-Smith and Ramdas "
    "2023): confidence sequences for any look, and at the planned look the same bets wherever "
    "few reports decide.",
}


def methods_paragraph(results: SurveyResults) -> str:
    """How the survey was done and its numbers were made."""
    manifest, batches = results.manifest, results.batches
    loss = survey_loss(manifest)
    opening = (
        "Each respondent got one private question, drawn at random"
        if manifest.collection == "one-question-each"
        else "Each respondent was asked all questions"
    )
    used = dict.fromkeys(number.reading.method for _, number in results.numbers)
    sentences = [
        "REHEARSAL with made-up people." if manifest.rehearsal else "",
        f"{results.respondents:,} reports arrived in {_batches(len(batches.days))} from "
        f"{batches.days[0]} to {batches.days[-1]}.",
        f"{opening}. Private answers were randomized before they were sent, by the channels in "
        f"the manifest (SHA-256 {manifest.hash}); the true answers were never collected.",
        f"All reports of one person satisfy local differential privacy with epsilon at most "
        f"{loss.epsilon():.4g} (delta 0): they multiply the odds between any two answers of "
        f"the person by at most {factor_up(odds_factor(loss))}.",
        *(_METHODS[method] for method in used),
        *(notice for notice in results.notices if not notice.startswith("REHEARSAL")),
        f"Each interval has a confidence of {100 * results.confidence:g} % by itself. All "
        "numbers can be computed again from the exported reports, by `python reproduce.py` "
        "or `Rscript reproduce.R`.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _batches(number: int) -> str:
    return "1 batch" if number == 1 else f"{number} batches"
