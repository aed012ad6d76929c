"""One estimate from several ways of asking: phones and paper, each by its own channel.

Counts of different channels must not be added; their likelihoods can be (see `pool`). The test
of homogeneity says whether the ways disagree more than chance explains, for example because
people trust a card less than a phone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.errors import InvalidData
from deniable.exact.rationals import Number
from deniable.mechanisms import RandomizedResponse
from deniable.surveys.estimate.pooling import PooledPrevalence, pool
from deniable.surveys.estimate.within_groups import answer_channels, count_support
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.results.manifest_designs import design_of


@dataclass(frozen=True, slots=True)
class PooledAnswer:
    """The share of one answer in each mode, in the order of the modes, and of all together."""

    question: str
    label: str
    modes: tuple[PooledPrevalence, ...]
    pooled: PooledPrevalence


def pool_modes(
    modes: Sequence[tuple[Manifest, Sequence[bytes]]],
    *,
    confidence: Number = 0.95,
    language: str | None = None,
) -> tuple[PooledAnswer, ...]:
    """Every answer of the private questions that all modes have asked and that go through
    yes/no channels.

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> text = 'id="s"\\ntitle="t"\\nepsilon=2\\n[[questions]]\\nid="a"\\nkind="yes-no"\\n'
    >>> phone, paper = (
    ...     make_manifest(loads(f'{text}text="?"\\ndesign="{design}"'))
    ...     for design in ("two-coins", "cards")
    ... )
    >>> modes = [
    ...     (phone, [phone.write_report({"a": i < 400}) for i in range(1000)]),
    ...     (paper, [paper.write_report({"a": i < 420}) for i in range(1000)]),
    ... ]
    >>> print(pool_modes(modes)[0].pooled)
    0.300 (95 %: 0.253 to 0.348)
    """
    first = modes[0][0]
    chosen = language or first.languages[0]
    shared = [
        question
        for question in first.private
        if all(question.id in {q.id for q in each.private} for each, _ in modes)
    ]
    answers: list[PooledAnswer] = []
    for question in shared:
        labels = question.labels[chosen]
        counted = [_count(manifest, bodies, question.id) for manifest, bodies in modes]
        if any(len(mode) != len(labels) for mode in counted):
            continue
        for place in [1] if len(labels) == 2 else range(len(labels)):
            parts = [mode[place] for mode in counted]
            each = tuple(pool([part], confidence=confidence) for part in parts)
            pooled = pool(parts, confidence=confidence)
            answers.append(PooledAnswer(question.id, labels[place], each, pooled))
    if not answers:
        raise InvalidData("The modes share no private question that can be pooled.")
    return tuple(answers)


Counted = list[tuple[RandomizedResponse, tuple[int, int]]]


def _count(manifest: Manifest, bodies: Sequence[bytes], name: str) -> Counted:
    """For each answer its yes/no channel, and how many reports do not support it, and do;
    nothing without such channels or reports."""
    design = design_of(manifest.question(name))
    channels = answer_channels(design)
    rows = [manifest.read_report(body) for body in bodies]
    reports = [row[name] for row in rows if name in row]
    if channels is None or not reports:
        return []
    counts = count_support(design, np.array(reports)).tolist()
    return [
        (RandomizedResponse.channel(p, q), (len(reports) - yes, yes))
        for (p, q), yes in zip(channels, counts, strict=True)
    ]
