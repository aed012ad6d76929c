"""What in a questionnaire would leak answers in spite of the coins, or waste them.

Each check is one function that yields findings; `CHECKS` is all of them. An *error* breaks the
promise to respondents: such a survey must not go out. A *warning* is a likely mistake.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from deniable.surveys.questionnaire.designs import design_question, split_epsilon
from deniable.surveys.questionnaire.languages import built_in
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


@dataclass(frozen=True, slots=True)
class LintFinding:
    """Something wrong, and how to mend it."""

    level: Literal["error", "warning"]
    question: str
    what: str
    mend: str

    def __str__(self) -> str:
        where = f" {self.question}:" if self.question else ""
        return f"{self.level}:{where} {self.what} {self.mend}"


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
    error: why: Free text cannot be randomized, and gives its writer away. Offer ...
    """
    read = require_questionnaire(survey)
    found = [finding for check in CHECKS for finding in check(read)]
    return sorted(found, key=lambda one: one.level)


def free_text(survey: Questionnaire) -> Iterator[LintFinding]:
    """Text that people write themselves."""
    for one in survey.questions:
        if one.kind == "text":
            yield LintFinding(
                "error",
                one.id,
                "Free text cannot be randomized, and gives its writer away.",
                'Offer a closed list of options, with "other" among them.',
            )


def skip_logic(survey: Questionnaire) -> Iterator[LintFinding]:
    """Questions whose being asked tells a private answer."""
    places = {one.id: place for place, one in enumerate(survey.questions)}
    for one in survey.questions:
        if one.ask_if is None:
            continue
        if one.ask_if.question not in places:
            yield LintFinding(
                "error",
                one.id,
                f"It depends on {one.ask_if.question!r}, which is not asked.",
                "Name a question of this survey.",
            )
            continue
        asked_before = survey.question(one.ask_if.question)
        if asked_before.private:
            yield LintFinding(
                "error",
                one.id,
                f"Whether it is asked tells the private answer to {asked_before.id}.",
                'Ask everybody, with an answer such as "does not apply" among the options.',
            )
        elif places[asked_before.id] >= places[one.id]:
            yield LintFinding(
                "error",
                one.id,
                f"It depends on {asked_before.id}, which is asked later.",
                "Change the order.",
            )


def missing_answers(survey: Questionnaire) -> Iterator[LintFinding]:
    """Private questions that can only be declined by leaving them out, which is seen."""
    for one in survey.private:
        if one.kind != "text" and not one.prefer_not_to_say and not one.anchor:
            yield LintFinding(
                "warning",
                one.id,
                "Whoever will not answer has to leave it out, and that is seen.",
                "Set `prefer_not_to_say = true`, or let the form send an answer always.",
            )


def public_details(survey: Questionnaire) -> Iterator[LintFinding]:
    """Questions sent as they are that may name a person."""
    for one in survey.questions:
        if one.private or one.kind == "text":
            continue
        words = in_language(one.text, survey.languages[0]).lower()
        named = [word for word in _NAMING if word in words]
        if named or one.kind == "number":
            yield LintFinding(
                "warning",
                one.id,
                "It is sent as it is, and may single people out.",
                "Make it private, or ask for a coarse group.",
            )


def loss_size(survey: Questionnaire) -> Iterator[LintFinding]:
    """Losses that promise little, or designs that learn little."""
    if survey.epsilon * survey.waves > _LARGE:
        yield LintFinding(
            "warning",
            "",
            f"All answers of one person cost epsilon {survey.epsilon * survey.waves:g} "
            f"over {survey.waves} wave(s): odds may move {_fold(survey):,.0f}-fold.",
            "Ask fewer questions, or give each person one question at random.",
        )
    for name, epsilon in split_epsilon(survey).items():
        if 0 < epsilon < _SMALL:
            yield LintFinding(
                "warning",
                name,
                f"Only epsilon {float(epsilon):g} is left for it: thousands of people will "
                "tell next to nothing.",
                'Set `collection = "one-question-each"`, or ask fewer questions.',
            )


def _fold(survey: Questionnaire) -> float:
    return math.exp(min(survey.epsilon * survey.waves, 700.0))


def wave_memory(survey: Questionnaire) -> Iterator[LintFinding]:
    """Repeated waves, which spend again unless answers are remembered."""
    if survey.waves > 1:
        yield LintFinding(
            "warning",
            "",
            f"The same people are asked {survey.waves} times; fresh coins spend again.",
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
            "Let somebody independent strip all three, or leave `shuffler` out.",
        )
    elif survey.shuffler is not None and not survey.amplifies:
        yield LintFinding(
            "warning",
            "",
            "Open answers on the same line tell private ones apart: no amplification may be "
            "claimed.",
            "Set `separates = true` for the shuffler, or ask nothing openly.",
        )


def untranslated(survey: Questionnaire) -> Iterator[LintFinding]:
    """Labels and promises that respondents would read in a language that is not theirs."""
    needed = {"respondents", "reports"}
    foreign = [one for one in survey.languages if built_in(one) is None]
    if not foreign:
        return
    for one in survey.questions:
        needed |= {"yes", "no"} if one.kind == "yes-no" else set()
        needed |= {"prefer_not_to_say"} if one.prefer_not_to_say else set()
    for name, epsilon in split_epsilon(survey).items():
        if survey.question(name).kind != "text" and epsilon:
            made = design_question(survey.question(name), epsilon)
            needed |= {template_name(made.design, 1 if made.joint else made.options), "about"}
            needed |= {"mean"} if made.channel is None else set()
            private = survey.question(name)
            needed |= {"if_denied"} if private.kind == "yes-no" else {"if_lied", "range"}
            needed |= {"careless", "attention"} if private.anchor else set()
    missing = sorted(needed - survey.words.keys())
    if missing:
        yield LintFinding(
            "warning",
            "",
            f"In English for {', '.join(foreign)}: {', '.join(missing)}.",
            "Give them under `[words]`, in each language.",
        )


def public_alone(survey: Questionnaire) -> Iterator[LintFinding]:
    """A survey with nothing private in it."""
    if not survey.private:
        yield LintFinding("warning", "", "No question is private.", "Then no coins are needed.")


CHECKS: tuple[Callable[[Questionnaire], Iterator[LintFinding]], ...] = (
    free_text,
    skip_logic,
    missing_answers,
    public_details,
    loss_size,
    wave_memory,
    shuffling,
    untranslated,
    public_alone,
)
