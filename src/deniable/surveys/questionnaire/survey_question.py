"""One question of a questionnaire, as its owner writes it."""

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from deniable.errors import InvalidParameter
from deniable.exact.rationals import rational
from deniable.privacy.losses.hypothesis_testing import odds_factor
from deniable.surveys.questionnaire.declared_designs import (
    PaperDesign,
    declared_response,
    epsilon_above,
)
from deniable.surveys.questionnaire.phrases import Phrases, Text, in_language

Kind = Literal["yes-no", "single-choice", "multiple-choice", "scale", "number", "text"]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=64)]

_ENGLISH = Phrases()


class StrictModel(BaseModel):
    """Values are not converted, unknown keys are refused, and instances are frozen."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class AskCondition(StrictModel):
    """A question is asked only after this answer to that question."""

    question: Name
    answer: str


class SurveyQuestion(StrictModel):
    """One question. `private` answers are randomized; others are sent as they are.

    A private question may declare its own `epsilon`, its `odds`, or a `design` by name (see
    `declared_response`). `paper` is what draws the same channel on paper. With
    `shuffle_options` every device shows the options in an order of its own.

    `expected` is a guess at the shares of the answers, used only for plans and simulations. For
    a number it is the share of people who prefer not to say.
    """

    id: Name
    kind: Kind
    text: Text
    private: bool = True
    options: list[Text] = []
    points: int | None = Field(default=None, ge=2, le=100)
    low: float | None = None
    high: float | None = None
    step: float = 1
    prefer_not_to_say: bool = False
    shuffle_options: bool = False
    epsilon: float | None = Field(default=None, gt=0)
    odds: float | None = Field(default=None, gt=1)
    design: str | dict[str, Any] | None = None
    paper: PaperDesign | None = None
    expected: list[float] = []
    anchor: bool = False
    ask_if: AskCondition | None = None

    @model_validator(mode="after")
    def _check(self) -> "SurveyQuestion":
        if self.kind in ("single-choice", "multiple-choice") and len(self.options) < 2:
            raise ValueError("a choice needs two or more `options`")
        if self.kind not in ("single-choice", "multiple-choice") and self.options:
            raise ValueError("only single-choice and multiple-choice have `options`")
        if self.kind == "scale" and self.points is None:
            raise ValueError("a scale needs `points`, for example 5")
        if self.kind == "number" and (self.low is None or self.high is None):
            raise ValueError("a number needs `low` and `high`: answers are clipped to them")
        if self.anchor and (self.kind != "yes-no" or self.prefer_not_to_say):
            raise ValueError(
                "an anchor is a yes-no question whose true answer is always no, without "
                "`prefer_not_to_say`"
            )
        if self.expected and len(self.expected) != self.answers:
            raise ValueError(f"`expected` needs {self.answers} shares, one for each answer")
        if any(not 0 <= share <= 1 for share in self.expected):
            raise ValueError("`expected` must hold shares from 0 to 1")
        if (
            self.kind not in ("multiple-choice", "number")
            and self.expected
            and abs(sum(self.expected) - 1) > 1e-9
        ):
            raise ValueError("the shares in `expected` must add up to 1")
        self._check_design()
        return self

    def _check_design(self) -> None:
        given = [name for name in ("epsilon", "odds", "design") if getattr(self, name)]
        if len(given) > 1:
            raise ValueError("give only one of `epsilon`, `odds` and `design`")
        if not self.private and (given or self.paper):
            raise ValueError(
                "a question with `private = false` is sent as it is, without coins"
            )
        if self.shuffle_options and not self.options:
            raise ValueError("`shuffle_options` needs `options`")
        if self.design is None:
            return
        if self.kind != "yes-no" or self.prefer_not_to_say:
            raise ValueError(
                "a `design` has two answers: it is for a yes-no question without "
                "`prefer_not_to_say`. For others give `odds`: odds of 4 and three answers are "
                "one die"
            )
        try:
            declared_response(self.design)
        except InvalidParameter as problem:
            raise ValueError(str(problem).rstrip(".")) from None

    @property
    def design_name(self) -> str | None:
        """The name of the declared design, such as "two-coins" or "warner"."""
        return next(iter(self.design)) if isinstance(self.design, dict) else self.design

    @property
    def declared_epsilon(self) -> Fraction | None:
        """What the question costs by its own declaration, rounded up; None without one.

        >>> coins = SurveyQuestion(id="a", kind="yes-no", text="?", design="two-coins")
        >>> float(coins.declared_epsilon)
        1.098612288669
        """
        if self.epsilon is not None:
            return rational(self.epsilon)
        if self.design is not None:
            return epsilon_above(odds_factor(declared_response(self.design).loss))
        return None if self.odds is None else epsilon_above(rational(self.odds))

    @property
    def answers(self) -> int:
        """How many answers can be listed. For a multiple choice this is the number of boxes, of
        which "prefer not to say" is the last."""
        listed = {"yes-no": 2, "scale": self.points or 0, "number": 0, "text": 0}
        return listed.get(self.kind, len(self.options)) + self.prefer_not_to_say

    def labels(self, language: str, words: Phrases = _ENGLISH) -> list[str]:
        """The labels of the answers, in the order of their numbers."""
        match self.kind:
            case "yes-no":
                labels = [words.say("no", language), words.say("yes", language)]
            case "scale":
                labels = [str(point + 1) for point in range(self.points or 0)]
            case _:
                labels = [in_language(option, language) for option in self.options]
        declined = words.say("prefer_not_to_say", language)
        return labels + [declined] * self.prefer_not_to_say
