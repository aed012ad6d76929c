"""Audits in one run of what sessions release: answers to questions, copies, models.

Canaries are made-up people beside the owner's own rows. Each must be in the domain, and must
move what is released: a canary that is clipped away, or that no question counts, would test
nothing, so it is refused. The run has a ledger in memory, and what it releases is not returned.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.audit.attack.canaries.one_run import OneRunFinding, one_run
from deniable.audit.attack.members.model_membership import label_logits
from deniable.audit.attack.rows.owned_sources import OwnedRows, read_owned
from deniable.audit.attack.rows.published_numbers import PublishedNumber
from deniable.audit.attack.rows.question_lists import list_questions
from deniable.audit.attack.rows.rehearsed_answers import answer_privately, open_forgotten
from deniable.audit.attack.rows.row_contributions import contribute
from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.exact.rationals import Number, whole
from deniable.privacy import ApproximateLoss, Loss, PureLoss

Floats = NDArray[np.float64]


def audit_questions(
    source: Any,
    questions: str | Path | Iterable[str],
    *,
    column: str,
    epsilon: Number,
    delta: Number = 0,
    table: str | None = None,
    options: dict[str, Any] | None = None,
    **declared: Any,
) -> OneRunFinding:
    """An audit in one run of the answers to a list of questions, at `epsilon` together.

    There is one canary for each declared key of `column`; a thousand keys or more give the
    audit power. `options` are those of `one_run`.

    >>> towns = pa.table({"town": [i % 500 for i in range(2000)]})
    >>> audit = audit_questions(
    ...     towns,
    ...     ["SELECT town, COUNT(*) AS n FROM data GROUP BY town"],
    ...     column="town",
    ...     epsilon=1,
    ...     keys={"town": list(range(500))},
    ... )
    >>> audit.claim, audit.power > 4
    (1.0, True)
    """
    owned, texts = read_owned(source, table=table, **declared), list_questions(questions)
    canaries = make_canaries(owned, column)
    watched = _WatchedNumbers.by(owned, canaries, texts)

    def release(included: list[int]) -> Floats:
        rows = OwnedRows(_with_canaries(owned, canaries, included), owned.table)
        return answer_privately(rows, texts, watched.numbers, epsilon=epsilon, delta=delta)

    claim = ApproximateLoss(epsilon, delta) if delta else PureLoss(epsilon)
    settings = {"claim": claim, "made_up": owned.made_up, **(options or {})}
    return one_run(release, range(canaries.num_rows), score=watched.score, **settings)


@dataclass(frozen=True, slots=True)
class _WatchedNumbers:
    """What each canary adds to each number, and the numbers without any canary."""

    numbers: tuple[PublishedNumber, ...]
    base: Floats
    effect: Floats

    @classmethod
    def by(
        cls, owned: OwnedRows, canaries: "pa.Table", texts: Sequence[str]
    ) -> "_WatchedNumbers":
        known = contribute(owned, texts)
        contributions = contribute(OwnedRows(canaries, owned.table), texts)
        numbers = tuple(dict.fromkeys((*known.numbers, *contributions.numbers)))
        place = {number: i for i, number in enumerate(numbers)}
        base, effect = np.zeros(len(numbers)), np.zeros((len(numbers), canaries.num_rows))
        base[[place[number] for number in known.numbers]] = known.values().sum(axis=1)
        effect[[place[number] for number in contributions.numbers]] = contributions.values()
        if still := int((~effect.any(axis=0)).sum()):
            raise InvalidParameter(
                f"{still} canaries are counted by no question: they would test nothing. Ask "
                "for counts or sums by the declared keys of `column`, without a condition "
                "that leaves rows out."
            )
        return cls(numbers, base, effect)

    def score(self, answers: Floats) -> Floats:
        """How far the answers moved in the direction of each canary."""
        movement = np.nan_to_num(answers - self.base) @ self.effect
        return np.asarray(movement / (self.effect**2).sum(axis=0))


def audit_copy(
    source: Any,
    *,
    column: str,
    epsilon: Number,
    delta: Number = 1e-6,
    table: str | None = None,
    copy: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
    **declared: Any,
) -> OneRunFinding:
    """An audit in one run of a private copy, with one canary for each declared key of `column`.

    The score of a canary is the noisy count of its key, which is published with the copy, less
    the exact count without canaries. `copy` are options of `session.copy`.

    >>> rng = np.random.default_rng(1)
    >>> people = pa.table(
    ...     {"town": rng.integers(0, 40, 400), "old": rng.integers(0, 2, 400) == 1}
    ... )
    >>> audit = audit_copy(people, column="town", epsilon=1, keys={"town": list(range(40))})
    >>> audit.violated
    False
    """
    owned = read_owned(source, table=table, **declared)
    canaries = make_canaries(owned, column)
    keys = list(map(_plain, canaries[column].to_pylist()))
    exact = Counter(map(_plain, owned.rows[column].to_pylist()))

    def release(included: list[int]) -> Any:
        rows = _with_canaries(owned, canaries, included)
        with open_forgotten(owned, epsilon=epsilon, delta=delta, rows=rows) as session:
            return session.copy(epsilon=epsilon, delta=delta, **(copy or {}))

    def score(output: Any) -> Floats:
        noisy = next(margin for margin in output.measured if margin.columns == (column,))
        places = dict(zip(map(_plain, noisy.labels[0]), noisy.cells[0], strict=True))
        return np.array([noisy.counts[places[key]] - exact[key] for key in keys])

    claim = ApproximateLoss(epsilon, delta)
    settings = {"claim": claim, "made_up": owned.made_up, **(options or {})}
    return one_run(release, range(len(keys)), score=score, **settings)


def audit_model(
    make: Callable[[], Any],
    X: Any,
    y: Any,
    *,
    claim: Loss,
    canaries: int = 1000,
    made_up: bool = False,
    options: dict[str, Any] | None = None,
) -> OneRunFinding:
    """An audit in one run of a model that `make()` gives: untrained, with `predict_proba`.

    Canaries are rows of X with another label. The score is the model's confidence in it.

    >>> import deniable as dp
    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(0, 1, (500, 3))
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> model = lambda: dp.learn.NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1])
    >>> audit_model(model, X, y, claim=dp.PureLoss(1), canaries=100).violated
    False
    """
    data, labels = np.asarray(X), np.asarray(y)
    many, classes = whole(canaries, "canaries", least=1), np.unique(labels)
    if len(classes) < 2:
        raise InvalidParameter("`y` must have two classes or more.")
    places = np.asarray(SYSTEM.draw(62, many) % len(data), dtype=np.int64)
    turned = (np.searchsorted(classes, labels[places]) + 1) % len(classes)
    features, other = data[places], classes[turned]

    def release(included: list[int]) -> Any:
        rows = np.concatenate([data, features[included]])
        return make().fit(rows, np.concatenate([labels, other[included]]))

    settings = {"claim": claim, "made_up": made_up, **(options or {})}
    return one_run(
        release,
        range(many),
        score=lambda model: label_logits(model, features, other),
        **settings,
    )


def make_canaries(owned: OwnedRows, column: str) -> "pa.Table":
    """A row for each declared key of a column; all else is taken from rows at random."""
    if owned.table.neighbors != "add-remove":
        raise InvalidParameter(
            "Canaries come and go, as in add-remove. The claim of a table under replace says "
            "nothing about that, so it cannot be audited by them."
        )
    declared = owned.table.columns.get(column)
    keys: Sequence[Any] | None = None if declared is None else declared.keys
    if not keys or isinstance(keys, str) or not owned.rows.num_rows:
        raise InvalidParameter(
            f"`column` must have declared keys, one for each canary. {column!r} lacks them, "
            "or the table has no rows."
        )
    places = SYSTEM.draw(62, len(keys)) % owned.rows.num_rows
    rows = owned.rows.take(pa.array(places.astype(np.int64)))
    place, kind = rows.column_names.index(column), rows.schema.field(column).type
    rows = rows.set_column(place, column, pa.array([_typed(key, kind) for key in keys], kind))
    unit = owned.table.unit
    if unit is not None:
        ids = [f"canary {number}" for number in range(len(keys))]
        of = rows.schema.field(unit).type
        numbered: Any = -1 - np.arange(len(keys)) if pa.types.is_integer(of) else ids
        rows = rows.set_column(rows.column_names.index(unit), unit, pa.array(numbered, of))
    return rows


def _typed(key: Any, kind: Any) -> Any:
    return int(key) if pa.types.is_integer(kind) else key


def _with_canaries(owned: OwnedRows, canaries: "pa.Table", included: list[int]) -> "pa.Table":
    included_rows = canaries.take(pa.array(included, pa.int64()))
    return pa.concat_tables([owned.rows, included_rows.cast(owned.rows.schema)])


def _plain(key: Any) -> Any:
    return key if key is None or isinstance(key, str | bool) else float(key)
