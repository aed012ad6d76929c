"""Bounds on choices, against the best mechanism there is, found by linear programming."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from deniable.errors import InvalidParameter
from deniable.mechanisms import PermuteAndFlip, Thresholding
from deniable.price import kept, rank_margin, selection, threshold

F = Fraction


def best_error(scores, epsilon, *, monotone, top):
    """The least error at `scores` of any private mechanism that treats candidates alike, for
    whole scores from 0 to `top`."""
    k = len(scores)
    lists = list(product(range(top + 1), repeat=k))
    place = {entry: i for i, entry in enumerate(lists)}
    grow, rows = math.exp(epsilon), []
    for entry in lists:
        for move in product((-1, 0, 1), repeat=k):
            if monotone and -1 in move and 1 in move:
                continue
            other = tuple(a + b for a, b in zip(entry, move, strict=True))
            if other in place and other != entry:
                for i in range(k):
                    row = np.zeros(len(lists) * k)
                    row[place[entry] * k + i], row[place[other] * k + i] = 1, -grow
                    rows.append(row)
    equal, right = [], []
    for entry in lists:
        row = np.zeros(len(lists) * k)
        row[place[entry] * k : place[entry] * k + k] = 1
        equal.append(row)
        right.append(1.0)
        for order in permutations(range(k)):
            other = tuple(entry[j] for j in order)
            for i in range(k):
                row = np.zeros(len(lists) * k)
                row[place[other] * k + i] += 1
                row[place[entry] * k + order[i]] -= 1
                if row.any():
                    equal.append(row)
                    right.append(0.0)
    cost = np.zeros(len(lists) * k)
    for i, score in enumerate(scores):
        if score == max(scores):
            cost[place[tuple(scores)] * k + i] = -1
    solution = linprog(cost, np.array(rows), np.zeros(len(rows)), np.array(equal), right)
    return 1 + solution.fun


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("scores", [(4, 0), (3, 0), (3, 2), (3, 3)], ids=str)
def test_between_two_the_bound_is_the_best_there_is(scores, monotone):
    gaps = [max(scores) - score for score in scores]
    best = best_error(scores, 1, monotone=monotone, top=4)
    bound = selection(gaps, 1, monotone=monotone).value
    assert bound <= best + 1e-9
    if not monotone and max(gaps) % 2 == 0:
        assert bound == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [0.5, 2])
@pytest.mark.parametrize("scores", [(2, 0, 0), (2, 1, 0), (2, 2, 0), (2, 1, 1)], ids=str)
def test_no_mechanism_beats_the_bound_among_three(scores, epsilon, monotone):
    gaps = [max(scores) - score for score in scores]
    best = best_error(scores, epsilon, monotone=monotone, top=2)
    bound = selection(gaps, epsilon, monotone=monotone).value
    assert 0 < bound <= best + 1e-9
    assert bound > best / 4  # and it is of use


@pytest.mark.parametrize("gap", [2, 4, 10])
def test_permute_and_flip_attains_it_between_two(gap):
    law = PermuteAndFlip(epsilon=1).pmf([0, gap])
    assert selection([0, gap], 1).value == pytest.approx(float(law[0]), rel=1e-9)


def test_thresholds():
    """The best rule for a count, by linear programming, errs that often or more."""
    for distance, epsilon in ((1, 1.0), (2, 0.5), (3, 2.0)):
        numbers, grow = (
            range(2 * distance + 1),
            math.exp(epsilon),
        )  # the threshold is in the middle
        limits, right = [], []
        for i in numbers:  # P(above), and the error last
            for j in {i - 1, i + 1} & set(numbers):
                for sign in (1, -1):
                    row = np.zeros(len(numbers) + 1)
                    row[i], row[j] = sign, -sign * grow
                    limits.append(row)
                    right.append(0.0 if sign == 1 else grow - 1)
        limits += [np.r_[1.0, np.zeros(2 * distance), -1.0]]
        limits += [np.r_[np.zeros(2 * distance), -1.0, -1.0]]
        cost = np.r_[np.zeros(len(numbers)), 1.0]
        best = linprog(cost, np.array(limits), [*right, 0.0, -1.0], bounds=(0, 1)).fun
        assert threshold(distance, epsilon).value <= best + 1e-9
        assert best < 2.01 * threshold(distance, epsilon).value
    assert threshold(F(1, 10), 1).changes == 1


def best_confidence(rows, cells, epsilon, margin, relation):
    """The highest confidence with which any method keeps a median within a margin in ranks."""
    sizes = (rows,) if relation == "replace" else range(rows + 2)
    tables = [t for n in sizes for t in combinations_with_replacement(range(cells), n)]
    place = {table: i for i, table in enumerate(tables)}
    grow, limits, width = math.exp(epsilon), [], len(tables) * cells + 1
    for table in tables:
        for i in range(len(table)):
            rest = table[:i] + table[i + 1 :]
            near = [rest]
            if relation == "replace":
                near = [tuple(sorted((*rest, v))) for v in range(cells)]
            for other in near:
                if other in place and other != table:
                    for a, b in ((table, other), (other, table)):
                        for cell in range(cells):
                            row = np.zeros(width)
                            row[place[a] * cells + cell] = 1
                            row[place[b] * cells + cell] = -grow
                            limits.append(row)
    equal = []
    for table in tables:
        row = np.zeros(width)
        row[place[table] * cells : (place[table] + 1) * cells] = 1
        equal.append(row)
        if len(table) == rows:
            row = np.zeros(width)
            row[-1] = 1
            for cell in range(cells):
                below, through = (sum(x < cell for x in table), sum(x <= cell for x in table))
                if max(0, rows / 2 - through, below - rows / 2) <= margin:
                    row[place[table] * cells + cell] = -1
            limits.append(row)
    cost = np.zeros(width)
    cost[-1] = -1
    solution = linprog(
        cost, np.array(limits), np.zeros(len(limits)), np.array(equal), np.ones(len(equal))
    )
    return -solution.fun


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("epsilon", [0.25, 1.0])
def test_no_method_beats_the_rank_margin(epsilon, relation):
    """At a confidence that any method reaches with a margin of 0, the bound is 0."""
    reached = best_confidence(4, 4, epsilon, 0, relation)
    level = F(math.floor(reached * 10**6), 10**6)
    options = {"rows": 4, "cells": 4, "epsilon": epsilon, "neighbors": relation}
    assert rank_margin(confidence=level, **options).value == 0
    above = 1 / (1 + math.exp(-epsilon * (2 if relation == "replace" else 4)))
    assert rank_margin(confidence=F(above + 1e-6), **options).value > 0
    assert reached <= above


def test_rank_margins_grow_with_the_grid_and_the_relation():
    def margin(cells, relation):
        options = {"rows": 10**6, "epsilon": 0.1, "neighbors": relation}
        return rank_margin(cells=cells, **options).value

    assert margin(10**3, "replace") < margin(10**6, "replace")
    assert margin(10**6, "add-remove") < margin(10**6, "replace")
    # ln(cells * 0.95 / 0.05) / (2 epsilon), up to one rank.
    expected = math.log(10**6 * 19) / 0.2
    assert margin(10**6, "replace") == pytest.approx(expected, abs=2)


def test_groups_that_must_stay_hidden():
    bound = kept(1, 1, 1e-5)
    assert bound.value == 1e-5
    for units in range(25):
        mechanism = Thresholding(epsilon=1, delta=1e-5)
        assert mechanism.keep_probability(units) <= kept(units, 1, 1e-5).value * (1 + 1e-9)


@pytest.mark.parametrize("gaps", [[0], [1, 2], [-1, 0]])
def test_bad_gaps(gaps):
    with pytest.raises(InvalidParameter, match="gaps"):
        selection(gaps, 1)
