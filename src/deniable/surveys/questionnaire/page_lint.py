"""Checks of a questionnaire that people will take on a page or on paper."""

from collections.abc import Iterator

from deniable.surveys.questionnaire.channel_shapes import channel_of, draws_on_paper
from deniable.surveys.questionnaire.declared_designs import fits_device
from deniable.surveys.questionnaire.designs import design_question, split_epsilon
from deniable.surveys.questionnaire.languages import built_in
from deniable.surveys.questionnaire.lint_finding import LintFinding
from deniable.surveys.questionnaire.page_words.english import PAGE
from deniable.surveys.questionnaire.phrases import in_language, is_promise
from deniable.surveys.questionnaire.questionnaire import Questionnaire


def page_texts(survey: Questionnaire) -> Iterator[LintFinding]:
    """A page that does not say who asks, and why."""
    missing = [name for name in ("who", "why") if not getattr(survey, name)]
    if missing:
        yield LintFinding(
            "warning",
            "",
            "The page that people see does not say who asks, and why.",
            f"Give {' and '.join(f'`{name}`' for name in missing)}.",
        )


def untranslated_page(survey: Questionnaire) -> Iterator[LintFinding]:
    """Texts of the page that are English in a language of the survey."""
    foreign = [code for code in survey.languages if built_in(code) is None]
    missing = [name for name in PAGE if name not in survey.words]
    if foreign and missing:
        yield LintFinding(
            "warning",
            "",
            f"The page has {len(missing)} texts in English for {', '.join(foreign)}: "
            f"{missing[0]} to {missing[-1]}.",
            "Give them under `[words]` in each language.",
        )


def rewritten_promises(survey: Questionnaire) -> Iterator[LintFinding]:
    """Texts that say what happens to an answer, in the pollster's own words."""
    given = {name: text for name, text in survey.words.items() if is_promise(name)}
    for code in survey.languages:
        known = built_in(code)
        own = [
            name
            for name, text in given.items()
            if known is None or in_language(text, code) != known[name]
        ]
        if own and known:
            yield LintFinding(
                "error",
                "",
                f"`words` rewrites what people are promised in {code}: {', '.join(own)}.",
                "Leave them out: people see the built-in text.",
            )
        elif own:
            yield LintFinding(
                "warning",
                "",
                f"What people are promised in {code} is in your own words: {', '.join(own)}.",
                "The page shows the English text beside them. Let somebody compare the two: "
                "nothing else checks them.",
            )


def ways_to_answer(survey: Questionnaire) -> Iterator[LintFinding]:
    """Ways to answer a question that do not draw the channel of the manifest."""
    costs = split_epsilon(survey)
    for question in survey.private:
        if question.paper is None or question.kind == "text":
            continue
        designed = design_question(question, costs[question.id])
        by_hand = fits_device(designed.design) and question.kind != "multiple-choice"
        if not by_hand or not draws_on_paper(question.paper, channel_of(designed)):
            yield LintFinding(
                "error",
                question.id,
                f"On paper, {question.paper} does not draw the channel of the manifest.",
                "Declare a `design`, or `odds` whose probabilities have denominators of at "
                "most 36, and let `paper` be what draws them.",
            )


def conditions(survey: Questionnaire) -> Iterator[LintFinding]:
    """Conditions that no answer fulfils, or that would empty a question that was drawn."""
    names = {question.id for question in survey.questions}
    for question in survey.questions:
        condition = question.ask_if
        if condition is None or condition.question not in names:
            continue
        earlier = survey.question(condition.question)
        labels = {
            label for code in survey.languages for label in earlier.labels(code, survey.wording)
        }
        if condition.answer not in labels:
            yield LintFinding(
                "error",
                question.id,
                f"{earlier.id} has no answer {condition.answer!r}.",
                "Use one of its labels in `ask_if`.",
            )
        elif question.private and survey.collection == "one-question-each":
            yield LintFinding(
                "error",
                question.id,
                "A device could draw it for a person who is not to be asked.",
                "Leave `ask_if` out, or let everyone answer all.",
            )
