"""The audit in one run: canaries in by coin, one release, guesses, a lower bound on epsilon.

The run is the auditor's own: what it releases is scored, and never returned, because several
audits of one table would average the noise away. The number of guesses is fixed beforehand; if
several are tried, the error is divided among them; if it is tuned, that is done on the coins of
one half of the canaries, and the other half is judged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.canaries.one_run_bound import epsilon_at_least, most_shown
from deniable.audit.attack.finding_sections import Section
from deniable.audit.attack.findings import AttackFinding
from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.exact.rationals import Number, probability, whole
from deniable.exact.text_formats import percent
from deniable.privacy import Loss
from deniable.privacy.losses.loss import delta_of

LEAST = 5  # with fewer guesses even all right ones show nothing at 95 %
_TRIED = 6  # numbers of guesses that tuning compares


@dataclass(frozen=True, repr=False, eq=False)
class OneRunFinding(AttackFinding):
    """What one run shows: with the stated confidence, epsilon is at least `at_least`.

    `power` is what an audit of this size shows if every guess is right. A claim above it cannot
    be refuted, whatever the mechanism does.
    """

    title: ClassVar[str] = "An audit in one run"
    at_least: float
    confidence: float
    power: float
    claim: float | None  # the claimed epsilon, at delta
    delta: float
    canaries: int
    guesses: int
    right: int
    made_up: bool = False

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted. False does not mean that it is true."""
        return self.claim is not None and self.at_least > self.claim

    def sections(self) -> Sequence[Section]:
        at = f" at delta {self.delta:g}" if self.delta else ""
        text = [
            f"Epsilon is at least {self.at_least:.3f}{at}, with {percent(self.confidence)} "
            f"confidence: {self.right} of {self.guesses} guesses about {self.canaries:,} "
            "canaries are right.",
            f"An audit of this size can show {self.power:.3f} at most.",
        ]
        if self.claim is not None:
            text.append(
                f"The claim, epsilon {self.claim:.3f}, is refuted."
                if self.violated
                else f"The claim, epsilon {self.claim:.3f}, is not refuted. That does not "
                "show that it is true."
            )
        return [Section(text=tuple(text))]


def one_run(
    mechanism: Callable[[list[Any]], Any],
    canaries: Sequence[Any],
    *,
    score: Callable[[Any], Any],
    claim: Loss | None = None,
    delta: Number | None = None,
    guesses: int | Sequence[int] | None = None,
    sides: str = "both",
    tune: bool = False,
    confidence: Number = 0.95,
    made_up: bool = False,
) -> OneRunFinding:
    """A lower bound on epsilon from one call of a mechanism.

    `mechanism(included)` adds these canaries, a random half, to its data and releases.
    `score(output)` gives a number for each canary: the larger, the more it seems to be in. The
    highest and lowest scores are guessed (`sides="in"`: only the highest): all, or `guesses` of
    them. Several numbers of guesses divide the error; `tune` chooses one on half the canaries.

    >>> import deniable as dp
    >>> import numpy as np
    >>> def counts(included):
    ...     exact = np.bincount(included, minlength=1000)
    ...     return dp.Laplace(epsilon=4).release(exact)
    >>> audit = one_run(counts, range(1000), score=lambda noisy: noisy, claim=dp.PureLoss(1))
    >>> audit.violated, audit.at_least > 1.5, audit.power > 5
    (True, True, True)
    """
    judge = _Judge(sides, claim, slack_of(claim, delta), probability(confidence, "confidence"))
    many = whole(len(canaries), "the number of canaries", least=1)
    guess_counts = _list_guesses(guesses, many // 2 if tune else many, tune)
    coins = SYSTEM.draw(1, many).astype(bool)
    output = mechanism([canary for canary, coin in zip(canaries, coins, strict=True) if coin])
    scores = np.asarray(score(output), dtype=np.float64)
    if scores.shape != (many,):
        raise InvalidParameter(
            f"`score` must return one number for each of the {many} canaries. Found an array "
            f"of shape {scores.shape}."
        )
    if tune:
        guess_counts = [judge.choose(guess_counts, scores[0::2], coins[0::2])]
        scores, coins = scores[1::2], coins[1::2]
    return judge.conclude(guess_counts, scores, coins, made_up)


def _list_guesses(guesses: int | Sequence[int] | None, most: int, tune: bool) -> list[int]:
    """The numbers of guesses to try; refuses those that can show nothing."""
    if guesses is None:
        listed = sorted({most >> k for k in range(_TRIED)} if tune else {most})
    else:
        listed = [guesses] if isinstance(guesses, int) else list(guesses)
    listed = [
        whole(number, "guesses", least=1) for number in listed if not tune or number >= LEAST
    ]
    if not listed or max(listed) < LEAST or max(listed) > most:
        raise InvalidParameter(
            f"An audit in one run needs {LEAST} guesses or more, about as many canaries; with "
            "fewer it shows nothing, even if all are right. For a single number use the "
            "two-sample form, `two_sample`."
        )
    return listed


def slack_of(claim: Loss | None, delta: Number | None) -> Fraction:
    """The delta at which epsilon is bounded: the claim's own, unless another is given."""
    if delta is not None:
        return Fraction(delta_of(delta))
    if claim is None:
        return Fraction(0)
    return Fraction(claim.slack) if claim.exact_epsilon is not None else Fraction(1, 10**5)


@dataclass(frozen=True, slots=True)
class _Judge:
    sides: str
    claim: Loss | None
    delta: Fraction
    confidence: Fraction

    def __post_init__(self) -> None:
        if self.sides not in ("both", "in"):
            raise InvalidParameter(f'`sides` must be "both" or "in". Found {self.sides!r}.')

    def conclude(
        self,
        guess_counts: Sequence[int],
        scores: NDArray[Any],
        coins: NDArray[Any],
        made_up: bool,
    ) -> OneRunFinding:
        """The finding about these canaries."""
        many, best = len(coins), self.bound(guess_counts, scores, coins)
        level = self.shared(len(guess_counts))
        return OneRunFinding(
            at_least=best[0],
            confidence=float(self.confidence),
            power=most_shown(best[1], canaries=many, delta=self.delta, confidence=level),
            claim=None if self.claim is None else float(self.claim.epsilon(self.delta)),
            delta=float(self.delta),
            canaries=many,
            guesses=best[1],
            right=best[2],
            made_up=made_up,
        )

    def shared(self, tests: int) -> Fraction:
        """The confidence of each of several tests that hold together (Bonferroni)."""
        return 1 - (1 - self.confidence) / tests

    def bound(
        self, guess_counts: Sequence[int], scores: NDArray[Any], coins: NDArray[Any]
    ) -> tuple[float, int, int]:
        """The best bound, with its number of guesses and of right ones."""
        bounds = []
        for guesses in guess_counts:
            right = self.count(guesses, scores, coins)
            confidence = self.shared(len(guess_counts))
            bound = epsilon_at_least(
                len(coins), guesses, right, delta=self.delta, confidence=confidence
            )
            bounds.append((bound, guesses, right))
        return max(bounds)

    def choose(
        self, guess_counts: Sequence[int], scores: NDArray[Any], coins: NDArray[Any]
    ) -> int:
        """The number of guesses that shows most on these canaries."""
        return max(
            guess_counts,
            key=lambda guesses: self.bound([min(guesses, len(coins))], scores, coins)[0],
        )

    def count(self, guesses: int, scores: NDArray[Any], coins: NDArray[Any]) -> int:
        """How many guesses are right: the highest scores are in, the lowest are out."""
        order = np.argsort(-scores, kind="stable")
        high = guesses if self.sides == "in" else (guesses + 1) // 2
        low = guesses - high
        right = int(coins[order[:high]].sum())
        return right + (int((~coins[order[len(order) - low :]]).sum()) if low else 0)
