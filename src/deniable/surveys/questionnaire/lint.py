"""Checks a questionnaire for leaks that coins cannot prevent, and for wasted epsilon.

Each check is one function that yields findings; `CHECKS` lists them all. An *error* breaks the
promise to respondents: such a survey must not be used. A *warning* is a likely mistake.
"""

import math
from collections.abc import Callable, Iterator

from deniable.surveys.questionnaire.designs import design_question, split_epsilon
from deniable.surveys.questionnaire.languages import built_in
from deniable.surveys.questionnaire.lint_finding import LintFinding
from deniable.surveys.questionnaire.page_lint import (
    conditions,
    page_texts,
    rewritten_promises,
    untranslated_page,
    ways_to_answer,
)
from deniable.surveys.questionnaire.phrases import in_language
from deniable.surveys.questionnaire.questionnaire import Questionnaire, require_questionnaire
from deniable.surveys.questionnaire.respondent_promises import template_name

_LARGE = 4
_SMALL = 0.2
_NAMING = (
    "name",
    "e-mail",
    "email",
    "address",
    "phone",
    "birth",
    "passport",
    "geburt",
    "adresse",
)


def lint(survey: Questionnaire) -> list[LintFinding]:
    """Every finding, errors first.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads('''
    ... id = "s"
    ... title = "t"
    ... epsilon = 1
    ... [[questions]]
    ... id = "why"
    ... kind = "text"
    ... text = "Why?"
    ... ''')
    >>> print(lint(survey)[0])
    error: why: Free text cannot be randomized and may identify its writer. Offer ...
    """
    checked = require_questionnaire(survey)
    findings = [finding for check in CHECKS for finding in check(checked)]
    return sorted(findings, key=lambda finding: finding.level)


def free_text(survey: Questionnaire) -> Iterator[LintFinding]:
    """Questions with free text."""
    for question in survey.questions:
        if question.kind == "text":
            yield LintFinding(
                "error",
                question.id,
                "Free text cannot be randomized and may identify its writer.",
                'Offer a closed list of options, with "other" among them.',
            )


def skip_logic(survey: Questionnaire) -> Iterator[LintFinding]:
    """Questions that are asked only after a certain private answer."""
    places = {question.id: place for place, question in enumerate(survey.questions)}
    for question in survey.questions:
        if question.ask_if is None:
            continue
        if question.ask_if.question not in places:
            yield LintFinding(
                "error",
                question.id,
                f"It depends on {question.ask_if.question!r}, which is not in this survey.",
                "Name a question of this survey.",
            )
            continue
        earlier = survey.question(question.ask_if.question)
        if earlier.private:
            yield LintFinding(
                "error",
                question.id,
                f"Whether it is asked reveals the private answer to {earlier.id}.",
                'Ask everybody, with an option such as "does not apply".',
            )
        elif places[earlier.id] >= places[question.id]:
            yield LintFinding(
                "error",
                question.id,
                f"It depends on {earlier.id}, which is asked later.",
                "Change the order.",
            )


def missing_answers(survey: Questionnaire) -> Iterator[LintFinding]:
    """Private questions that people can decline only by not answering, which is visible."""
    for question in survey.private:
        if question.kind != "text" and not question.prefer_not_to_say and not question.anchor:
            yield LintFinding(
                "warning",
                question.id,
                "A person who does not want to answer must leave it out, and that is visible.",
                "Set `prefer_not_to_say = true`, or let the form always send an answer.",
            )


def public_details(survey: Questionnaire) -> Iterator[LintFinding]:
    """Public questions that may identify a person."""
    for question in survey.questions:
        if question.private or question.kind == "text":
            continue
        text = in_language(question.text, survey.languages[0]).lower()
        naming = [word for word in _NAMING if word in text]
        if naming or question.kind == "number":
            yield LintFinding(
                "warning",
                question.id,
                "It is sent as it is and may identify people.",
                "Make it private, or ask for a coarse group.",
            )


def loss_size(survey: Questionnaire) -> Iterator[LintFinding]:
    """A total epsilon that promises little, or a share of it that yields little."""
    if survey.epsilon * survey.waves > _LARGE:
        yield LintFinding(
            "warning",
            "",
            f"All answers of one person cost epsilon {survey.epsilon * survey.waves:g} "
            f"over {survey.waves} wave(s): odds may change {_fold(survey):,.0f}-fold.",
            "Ask fewer questions, or give each person one question at random.",
        )
    for name, epsilon in split_epsilon(survey).items():
        if 0 < epsilon < _SMALL:
            yield LintFinding(
                "warning",
                name,
                f"It gets only epsilon {float(epsilon):g}: even the answers of thousands of "
                "people say very little.",
                'Set `collection = "one-question-each"`, or ask fewer questions.',
            )


def _fold(survey: Questionnaire) -> float:
    return math.exp(min(survey.epsilon * survey.waves, 700.0))


def wave_memory(survey: Questionnaire) -> Iterator[LintFinding]:
    """Repeated waves, which cost epsilon again unless reports are remembered."""
    if survey.waves > 1:
        yield LintFinding(
            "warning",
            "",
            f"The same people are asked {survey.waves} times. Fresh coins cost epsilon again.",
            "Let devices remember (`deniable.surveys.Memory`), or use `Loloha`.",
        )


def shuffling(survey: Questionnaire) -> Iterator[LintFinding]:
    """A shuffler that does not hide reports among each other."""
    if survey.shuffler is not None and not survey.shuffler.hides_reports:
        yield LintFinding(
            "warning",
            "",
            f"{survey.shuffler.who} keeps identity, order or time, or is not independent: no "
            "amplification may be claimed.",
            "Use an independent shuffler that strips all three, or leave `shuffler` out.",
        )
    elif survey.shuffler is not None and not survey.amplifies:
        yield LintFinding(
            "warning",
            "",
            "Public answers on the same line identify private ones: no amplification may be "
            "claimed.",
            "Set `separates = true` for the shuffler, or make all questions private.",
        )


def untranslated(survey: Questionnaire) -> Iterator[LintFinding]:
    """Labels and promises that are missing in a language of the survey."""
    needed = {"respondents", "reports"}
    foreign = [code for code in survey.languages if built_in(code) is None]
    if not foreign:
        return
    for question in survey.questions:
        needed |= {"yes", "no"} if question.kind == "yes-no" else set()
        needed |= {"prefer_not_to_say"} if question.prefer_not_to_say else set()
    for name, epsilon in split_epsilon(survey).items():
        if survey.question(name).kind != "text" and epsilon:
            private = survey.question(name)
            designed = design_question(private, epsilon)
            boxes = 1 if designed.joint else designed.options
            needed |= {template_name(designed.design, boxes), "about"}
            needed |= {"mean"} if designed.channel is None else set()
            needed |= {"if_denied"} if private.kind == "yes-no" else {"if_lied", "range"}
            needed |= {"careless", "attention"} if private.anchor else set()
    missing = sorted(needed - survey.words.keys())
    if missing:
        yield LintFinding(
            "warning",
            "",
            f"In English for {', '.join(foreign)}: {', '.join(missing)}.",
            "Give them under `[words]` in each language.",
        )


def no_private_questions(survey: Questionnaire) -> Iterator[LintFinding]:
    """A survey without private questions."""
    if not survey.private:
        yield LintFinding(
            "warning",
            "",
            "No question is private.",
            "Set `private = true` where answers need protection.",
        )


CHECKS: tuple[Callable[[Questionnaire], Iterator[LintFinding]], ...] = (
    free_text,
    skip_logic,
    missing_answers,
    public_details,
    loss_size,
    wave_memory,
    shuffling,
    untranslated,
    rewritten_promises,
    untranslated_page,
    page_texts,
    ways_to_answer,
    conditions,
    no_private_questions,
)
