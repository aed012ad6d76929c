"""Reads every number from the reports, for any look and for the planned look if it came."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any, Literal

import numpy as np

from deniable.exact.foreign_text import read_rational
from deniable.surveys.estimate.betting_sequence import count_outcomes
from deniable.surveys.estimate.look_rules import FoundNumber, LookRule
from deniable.surveys.estimate.unbiased_readings import scale_reader
from deniable.surveys.estimate.within_groups import (
    estimate_answers,
    shares_of_all,
    shares_within,
)
from deniable.surveys.questionnaire.collected_reports import CollectedReports
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion
from deniable.surveys.questionnaire.phrases import Phrases
from deniable.surveys.results.manifest_designs import design_of
from deniable.surveys.results.report_batches import ReportBatches
from deniable.surveys.results.result_numbers import GroupTable, QuestionFindings, ResultNumber

MOST_GROUPS, MOST_ROWS = 8, 12

_GROUPING = ("yes-no", "single-choice", "scale")


class ResultReader:
    """Reads the reports once for any look, and once for the planned look if it has come."""

    def __init__(self, batches: ReportBatches, language: str, rule: LookRule) -> None:
        self.manifest, self.language, self.rule = batches.manifest, language, rule
        self.words = Phrases(self.manifest.words)
        self.designs = {
            question.id: design_of(question) for question in self.manifest.questions
        }
        self.everything = batches.first(len(batches.days))
        look = batches.planned_look
        self.at_look = None if look is None else batches.first(look)
        self.fixed = LookRule(False, rule.confidence, rule.planned)

    def questions(self) -> Iterator[QuestionFindings]:
        """The findings of every question that has reports."""
        for question in self.manifest.questions:
            rule = self._rule_for(question)
            sequence = tuple(self._numbers(question, self.everything, rule))
            planned: tuple[ResultNumber, ...] = ()
            if self.at_look is not None:
                planned = tuple(self._numbers(question, self.at_look, self.fixed))
            if not sequence:
                continue
            counted = self.at_look if planned and self.at_look else self.everything
            yield QuestionFindings(
                question,
                question.text[self.language],
                len(counted.reports[question.id]),
                planned,
                sequence,
                (question.promise or {}).get(self.language, ""),
            )

    def _rule_for(self, question: ManifestQuestion) -> LookRule:
        """If each person gets one private question, fewer people answer it."""
        if question.private and self.manifest.collection == "one-question-each":
            return self.rule.among(len(self.manifest.private))
        return self.rule

    def _numbers(
        self, question: ManifestQuestion, collected: CollectedReports, rule: LookRule
    ) -> Iterator[ResultNumber]:
        reports = collected.reports.get(question.id)
        if reports is None:
            return
        design = self.designs[question.id]
        if design is None:
            yield self._number(question, -1, _public_mean(question, reports, rule))
            return
        numbers = estimate_answers(design, reports, rule)
        for place, number in zip(_places(question), numbers, strict=True):
            if place in _shown(question):
                yield self._number(question, place, number)
        if question.kind == "scale" and hasattr(design, "matrix"):
            points = question.answers - question.declines
            mean = estimate_answers(scale_reader(design, points), reports, rule)[0]
            yield self._number(question, -1, mean)

    def _number(
        self, question: ManifestQuestion, place: int, reading: FoundNumber, **more: Any
    ) -> ResultNumber:
        labels = question.labels[self.language]
        label = self.words.say("mean", self.language) if place < 0 else labels[place]
        return ResultNumber(question.id, place, label, reading, **more)

    def tables(self) -> Iterator[GroupTable]:
        """The tables of all pairs of questions that have a readable one."""
        collected, rule = self.everything, self.rule
        if self.at_look is not None:
            collected, rule = self.at_look, self.fixed
        for question, by in permutations(self.manifest.questions, 2):
            if not _makes_table(question, by):
                continue
            if not {question.id, by.id} <= collected.reports.keys():
                continue
            reports = collected.both(question.id, by.id)
            if len(reports[0]):
                yield self._table(question, by, reports, rule)

    def _table(
        self,
        question: ManifestQuestion,
        by: ManifestQuestion,
        reports: tuple[Any, Any],
        rule: LookRule,
    ) -> GroupTable:
        designs = self.designs[question.id], self.designs[by.id]
        within = shares_within(*designs, reports, rule)
        of_all = shares_of_all(*designs, reports, rule)
        return GroupTable(
            question,
            by,
            question.text[self.language],
            by.text[self.language],
            tuple(self._rows(question, by, within, "group")),
            tuple(self._rows(question, by, of_all, "all")),
        )

    def _rows(
        self,
        question: ManifestQuestion,
        by: ManifestQuestion,
        numbers_by_group: list[tuple[FoundNumber, ...]],
        share_of: Literal["all", "group"],
    ) -> Iterator[tuple[ResultNumber, ...]]:
        groups = by.labels[self.language]
        for group, numbers in enumerate(numbers_by_group):
            yield tuple(
                self._number(
                    question,
                    place,
                    number,
                    share_of=share_of,
                    by=by.id,
                    group=group,
                    group_label=groups[group],
                )
                for place, number in zip(_places(question), numbers, strict=False)
                if place in _shown(question)
            )


def _places(question: ManifestQuestion) -> list[int]:
    """The places of the answers in the order of the estimates; -1 is a mean."""
    return [*([-1] if question.kind == "number" else []), *range(question.answers)]


def _shown(question: ManifestQuestion) -> list[int]:
    """Of two answers only the second: the first is the rest."""
    if question.kind != "multiple-choice" and question.answers == 2:
        return [1]
    return _places(question)


def _makes_table(question: ManifestQuestion, by: ManifestQuestion) -> bool:
    """Whether the question is private and the other makes groups, in a readable table."""
    return (
        question.private
        and by.kind in _GROUPING
        and by.answers <= MOST_GROUPS
        and question.answers <= MOST_ROWS
    )


def _public_mean(question: ManifestQuestion, reports: Any, rule: LookRule) -> FoundNumber:
    """The mean of a number that was not randomized."""
    low, high = (float(read_rational(end)) for end in (question.low, question.high))
    part = (np.asarray(reports, float) - low) / (high - low)
    everybody = np.ones(len(part))
    outcomes = count_outcomes(part, everybody, possible=(0, 1, 1, 1), spread=1 / 12)
    return rule.ratio(outcomes).between(low, high)
