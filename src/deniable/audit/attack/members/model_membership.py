"""Membership in a training set: the likelihood-ratio attack LiRA (Carlini et al.
2022), in its offline form.

Shadow models are trained on random halves of the rows. For each row, the shadows that did not
see it give the usual confidence in its label, as a normal distribution of the logit. A row in
whose label the target model is much more confident than that was probably in its training set.
What counts is how many members are found at very few false alarms, not the area under the
curve.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.finding_sections import Section, show_share
from deniable.audit.attack.findings import AttackFinding
from deniable.audit.attack.members.score_comparisons import area_under_curve, hits_at
from deniable.audit.test.progress import progress
from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.exact.rationals import whole

Floats = NDArray[np.float64]
_LEAST_SPREAD = 1e-3  # of a logit: shadows may agree exactly
_SURE = 1e-9


@dataclass(frozen=True, repr=False, eq=False)
class ModelMembershipFinding(AttackFinding):
    """The share of training rows that are found, at 1 % and 0.1 % false alarms."""

    title: ClassVar[str] = "Membership: who was in the training set"
    rows: int
    shadows: int
    hits_at_hundredth: float
    hits_at_thousandth: float
    auc: float
    made_up: bool = False

    def sections(self) -> Sequence[Section]:
        about = (
            f"{self.rows:,} rows, half of them in training; {self.shadows} shadow models. A "
            "coin finds as many members as false alarms."
        )
        rows = (
            ("1 %", show_share(self.hits_at_hundredth, 2)),
            ("0.1 %", show_share(self.hits_at_thousandth, 2)),
        )
        area = f"Area under the curve: {self.auc:.3f}. It is no evidence of safety."
        columns = ("false alarms", "members found")
        return [Section("", (about,), columns, rows), Section("", (area,))]


def model_membership(
    make: Callable[[], Any],
    X: Any,
    y: Any,
    *,
    shadows: int = 64,
    made_up: bool = False,
    show_progress: bool | None = None,
) -> ModelMembershipFinding:
    """LiRA against the models that `make()` gives: untrained, with `fit` and `predict_proba`.

    Each is trained on the owner's own rows, with a ledger in memory. No model is returned.

    >>> import deniable as dp
    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(0, 1, (400, 1))
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> private = lambda: dp.learn.NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1])
    >>> model_membership(private, X, y, shadows=4).hits_at_hundredth < 0.1
    True
    """
    many = whole(shadows, "shadows", least=4)
    data, labels = np.asarray(X), np.asarray(y)
    if len(data) != len(labels) or len(data) < 20:
        raise InvalidParameter("`X` and `y` must have the same length, 20 rows or more.")
    sure, inclusion = (
        np.zeros((many + 1, len(data))),
        np.zeros((many + 1, len(data)), dtype=bool),
    )
    with progress(many + 1, show_progress, what="models") as show:
        for number in range(many + 1):  # the last one is the target
            inclusion[number, np.argsort(SYSTEM.draw(63, len(data)))[: len(data) // 2]] = True
            model = make().fit(data[inclusion[number]], labels[inclusion[number]])
            sure[number] = label_logits(model, data, labels)
            show(number + 1)
    scores = likelihood_scores(sure[-1], sure[:-1], inclusion[:-1])
    members, others = scores[inclusion[-1]], scores[~inclusion[-1]]
    return ModelMembershipFinding(
        len(data),
        many,
        hits_at(members, others, 0.01),
        hits_at(members, others, 0.001),
        area_under_curve(members, others),
        made_up,
    )


def label_logits(model: Any, data: Any, labels: Any) -> Floats:
    """The logit of the probability that a model gives to each row's own label."""
    chances = np.asarray(model.predict_proba(data), dtype=np.float64)
    places = {value: place for place, value in enumerate(np.asarray(model.classes_).tolist())}
    own = chances[np.arange(len(labels)), [places[value] for value in labels.tolist()]]
    own = np.clip(own, _SURE, 1 - _SURE)
    return np.asarray(np.log(own) - np.log1p(-own), dtype=np.float64)


def likelihood_scores(target: Floats, shadows: Floats, inclusion: NDArray[np.bool_]) -> Floats:
    """How far the target's confidence is above that of the shadows that did not see a row.

    >>> shadows, unseen = np.array([[1.0], [3.0]]), np.zeros((2, 1), dtype=bool)
    >>> likelihood_scores(np.array([4.0]), shadows, unseen).tolist()
    [2.0]
    """
    out = np.where(inclusion, np.nan, shadows)
    count = np.maximum((~inclusion).sum(axis=0), 1)
    mean = np.nansum(out, axis=0) / count
    spread = np.sqrt(np.nansum((out - mean) ** 2, axis=0) / count)
    return np.asarray((target - mean) / np.maximum(spread, _LEAST_SPREAD), dtype=np.float64)
