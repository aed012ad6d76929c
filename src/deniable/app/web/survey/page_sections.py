"""The steps of the page, in their order: welcome, questions, done; and refused."""

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from typing import Any

from deniable.app.web.survey.html_elements import Html, beside, element, join
from deniable.app.web.survey.icon_arrays import draw_arrays, draw_patterns
from deniable.app.web.survey.question_fields import write_question
from deniable.exact.text_formats import factor_up
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.questionnaire.phrases import Phrases

_GUESS = Fraction(1, 10)
_THROWS = (1, 20, 100)


class PageSections:
    """Writes the steps of a manifest's page in one language."""

    def __init__(self, manifest: Manifest, language: str, *, saved: bool) -> None:
        self._manifest, self._language, self._saved = manifest, language, saved
        self._words = Phrases(manifest.words)
        self._odds = most_odds(manifest)

    def write(self) -> Html:
        """All steps."""
        return element(
            "main", self._welcome(), self._questions(), self._done(), self._refused()
        )

    def say(self, name: str, **figures: Any) -> str:
        """A text of the page; a promise in the pollster's words has the English one beside."""
        name = f"page_{name}"
        english = self._words.english_beside(name, self._language, **figures)
        return beside(self._words.say(name, self._language, **figures), english)

    def _welcome(self) -> Html:
        return element(
            "section",
            self._introduction(),
            self._label(),
            self._chance(),
            self._quiz(),
            element("noscript", element("p", self.say("no_script"), class_="warning")),
            element(
                "button", self.say("begin"), type="button", data_part="begin", disabled=True
            ),
            *(self._note("begin", name) for name in ("working", "used", "closed", "later")),
            data_step="welcome",
        )

    def _introduction(self) -> Html:
        manifest, language = self._manifest, self._language
        parts = []
        for name, text in (("who", manifest.who), ("why", manifest.why)):
            if text[language]:
                parts += [element("dt", self.say(name)), element("dd", text[language])]
        private = len(manifest.private)
        one_each = manifest.collection == "one-question-each" and private > 1
        question_count = len(manifest.questions) - (private - 1 if one_each else 0)
        facts = [self.say("questions", number=question_count) + "."]
        if one_each:
            facts.append(self.say("one_of", number=private))
        if manifest.closes:
            facts.append(self.say("closes", day=manifest.closes))
        about = element("dl", *parts, class_="about") if parts else Html()
        return join(about, element("p", " ".join(facts), class_="facts"))

    def _label(self) -> Html:
        """Consequences first: four questions and their answers."""
        link = "link_kiosk" if self._manifest.kiosk else f"link_{self._manifest.mode}"
        guess = self._odds * _GUESS / (self._odds * _GUESS + 1 - _GUESS)
        people = -(-100 * guess.numerator // guess.denominator)
        public = len(self._manifest.questions) > len(self._manifest.private)
        rows = {
            "tap": self.say("tap_public" if public else "tap_answer"),
            "leaves": self.say("leaves_answer", number=self._manifest.report_length),
            "leaks": self.say("leaks_answer", odds=factor_up(self._odds), guess=people),
            "link": self.say(link),
        }
        listed = [
            element("div", element("dt", self.say(name)), element("dd", answer))
            for name, answer in rows.items()
        ]
        return join(
            element("h2", self.say("label"), tabindex=-1),
            element("dl", *listed, class_="label"),
        )

    def _chance(self) -> Html:
        """How chance protects: a sentence, two arrays for each question, and a trial."""
        arrays = [
            draw_arrays(question, self._words, self._language)
            for question in self._manifest.private
        ]
        buttons = [
            element(
                "button",
                self.say("throw_once") if count == 1 else self.say("throw", number=count),
                type="button",
                class_="quiet",
                data_throws=count,
            )
            for count in _THROWS
        ]
        row = element("li", element("span"), element("span"), element("span", class_="bar"))
        trial = element(
            "section",
            element("h3", self.say("try")),
            element("p", self.say("try_text")),
            element("label", self.say("try_person"), for_="person"),
            element("select", id="person", data_part="person", autocomplete="off"),
            element("div", *buttons, class_="buttons"),
            element("h4", self.say("tally")),
            element("ul", row, data_part="tally", class_="tally", aria_live="polite"),
            class_="trial",
            data_part="trial",
            hidden=True,
        )
        return join(
            element("h2", self.say("how")),
            element("p", self.say("process")),
            draw_patterns(),
            *arrays,
            trial,
        )

    def _quiz(self) -> Html:
        choices = [
            element(
                "label",
                element("input", type="radio", name="quiz", autocomplete="off", data_quiz=name),
                element("span", self.say(f"quiz_{name}")),
            )
            for name in ("truth", "hint", "nothing")
        ]
        odds = factor_up(self._odds)
        notes = [
            element(
                "p", text, data_note=f"quiz-{name}", role="status", hidden=True, class_="told"
            )
            for name, text in (
                ("truth", self.say("quiz_truth_told")),
                ("hint", self.say("quiz_hint_told", odds=odds)),
                ("nothing", self.say("quiz_nothing_told", odds=odds)),
            )
        ]
        return join(
            element("h2", self.say("quiz")),
            element(
                "fieldset",
                element("legend", self.say("quiz_text")),
                element("div", *choices, class_="options"),
                *notes,
                class_="quiz",
            ),
        )

    def _questions(self) -> Html:
        return element(
            "section",
            element("h2", self.say("ask"), tabindex=-1),
            element("p", self.say("ask_note")),
            *self._write_questions(),
            element("p", self.say("undo"), class_="undo"),
            element("button", self.say("send"), type="button", data_part="send"),
            data_step="questions",
            hidden=True,
        )

    def _write_questions(self) -> Iterator[Html]:
        one_each = self._manifest.collection == "one-question-each"
        number = private_number = 0
        for question in self._manifest.questions:
            # Of the private questions one is shown, so all of them have the same number.
            if not (one_each and question.private and private_number):
                number += 1
            if question.private:
                private_number = private_number or number
            display_number = private_number if one_each and question.private else number
            yield write_question(question, display_number, self._words, self._language)

    def _done(self) -> Html:
        again = element("button", self.say("again"), type="button", data_part="again")
        receipt = element(
            "section",
            element("h3", self.say("bytes")),
            element("pre", element("code", data_part="bytes"), tabindex=0),
            element("p", self.say("bytes_note")),
            data_part="receipt",
            hidden=True,
        )
        states = ("waiting", "sending", "later", "busy", "sent", "refused", "before")
        mark = element(
            "p", self.say("mark"), " ", element("code", data_part="mark"), hidden=True
        )
        return element(
            "section",
            element("h2", self.say("done"), tabindex=-1),
            *(self._note("sent", name) for name in states),
            receipt,
            mark,
            *([again] if self._manifest.kiosk else []),
            data_step="done",
            hidden=True,
        )

    def _refused(self) -> Html:
        reasons = ("insecure", "incomplete", "changed")
        return element(
            "section",
            element("h2", self.say("refused"), tabindex=-1),
            *(self._note("refused", name) for name in reasons),
            self._paste(),
            data_step="refused",
            hidden=True,
        )

    def _paste(self) -> Html:
        """Where an invitation can be pasted: no link leads from it to a saved page."""
        field = element(
            "input",
            type="text",
            id="pasted",
            data_part="pasted",
            autocomplete="off",
            autocapitalize="off",
            spellcheck="false",
            dir="ltr",
        )
        return element(
            "div",
            element("label", self.say("paste"), for_="pasted"),
            field,
            element("button", self.say("take"), type="button", data_part="take"),
            class_="paste",
            data_note="refused-incomplete",
            hidden=True,
        )

    def _note(self, group: str, name: str) -> Html:
        return element(
            "p",
            self.say(f"{group}_{name}"),
            class_="note",
            data_note=f"{group}-{name}",
            role="status",
            hidden=True,
        )


def most_odds(manifest: Manifest) -> Fraction:
    """The most by which all reports of one person multiply anyone's odds."""
    odds = [question.drawn_by.odds for question in manifest.private]
    if manifest.collection == "one-question-each":
        return max(odds)
    return reduce(lambda product, factor: product * factor, odds)
