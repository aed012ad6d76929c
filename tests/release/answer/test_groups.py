from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.handover.exact_groups import ExactGroups
from deniable.mechanisms import Thresholding
from deniable.query.plan.plan import GroupKey
from deniable.release.answer.groups import _look_up_places, _places_in_range, form_groups
from tests.ledger.contract import plan

WARD = GroupKey("ward", "text", ("B", "A"))
DECADE = GroupKey("decade", "number", (0, 10, 20), Fraction(10))
SURE = Thresholding(epsilon=1, delta=0.01)


def exact(keys, n, units=None):
    return ExactGroups(
        tuple(pa.array(column) for column in keys),
        None if units is None else np.array(units),
        {"n": np.array(n)},
    )


def shown(groups):
    return [column.to_pylist() for column in groups.keys], groups.features["n"].tolist()


def test_declared_keys_all_appear_in_their_order():
    groups = form_groups(plan(1, keys=(WARD,)), exact([["A"]], [5]))
    assert shown(groups) == ([["B", "A"]], [0, 5])
    assert form_groups(plan(1, keys=(WARD,)), exact([pa.array([], pa.string())], [])).count == 2


def test_every_combination_appears_the_last_key_fastest():
    groups = form_groups(
        plan(1, keys=(WARD, DECADE)), exact([["A", "B", "A"], [0, 2, 1]], [1, 2, 3])
    )
    assert shown(groups) == (
        [["B", "B", "B", "A", "A", "A"], [0, 10, 20, 0, 10, 20]],
        [0, 0, 2, 1, 3, 0],
    )


def test_the_rest_is_one_more_group_where_it_is_asked_for():
    engine = exact([["A", None, "B", None], [1, 1, None, None]], [1, 20, 300, 4000])
    groups = form_groups(plan(1, keys=(WARD, DECADE), other=True), engine)
    assert groups.count == 7
    keys, n = shown(groups)
    assert (keys[0][-1], keys[1][-1], n[-1]) == (None, None, 4320)
    assert sum(n[:-1]) == 1
    assert sum(shown(form_groups(plan(1, keys=(WARD, DECADE)), engine))[1]) == 1


def test_null_is_a_declared_group_like_any_other():
    ward, decade = (replace(key, values=(*key.values, None)) for key in (WARD, DECADE))
    engine = exact([["A", None, "B", "X"], [1, 1, None, None]], [1, 20, 300, 4000])
    groups = form_groups(plan(1, keys=(ward, decade)), engine)
    wards, decades = ["B"] * 4 + ["A"] * 4 + [None] * 4, [0, 10, 20, None] * 3
    assert shown(groups) == ([wards, decades], [0, 0, 0, 300, 0, 1, 0, 0, 0, 20, 0, 0])
    truth = GroupKey("ok", "boolean", (False, True, None))
    groups = form_groups(plan(1, keys=(truth,)), exact([[None, True]], [7, 2]))
    assert shown(groups) == ([[False, True, None]], [0, 2, 7])


def test_without_keys_there_is_one_group():
    groups = form_groups(plan(1), exact([], [7]))
    assert shown(groups) == ([], [7])


def test_kinds_of_keys():
    half = GroupKey("half", "number", (0.0, 0.5, 1.0), Fraction(1, 2))
    assert shown(form_groups(plan(1, keys=(half,)), exact([[1]], [9]))) == (
        [[0.0, 0.5, 1.0]],
        [0, 9, 0],
    )
    flag = GroupKey("flag", "boolean", (False, True))
    assert shown(form_groups(plan(1, keys=(flag,)), exact([[True]], [9]))) == (
        [[False, True]],
        [0, 9],
    )
    day = GroupKey("day", "date", ("2026-11-15",))
    assert shown(form_groups(plan(1, keys=(day,)), exact([["2026-11-15"]], [9])))[0] == [
        [date(2026, 11, 15)]
    ]


private = plan(1, 0.01, keys=(GroupKey("code", "text", None),), thresholding=SURE)


def test_private_keys_are_sorted_whatever_the_engine_does():
    first = form_groups(private, exact([["b", "a", "c"]], [1, 2, 3], [900, 900, 900]))
    two = form_groups(private, exact([["c", "b", "a"]], [3, 1, 2], [900, 900, 900]))
    assert shown(first) == shown(two) == ([["a", "b", "c"]], [2, 1, 3])
    assert abs(first.units - 900).max() < 100


def test_rare_keys_are_gone_without_a_trace():
    groups = form_groups(private, exact([["rare", "often"]], [1, 2], [0, 900]))
    assert shown(groups) == ([["often"]], [2])
    assert groups.units.shape == (1,)
    nobody = form_groups(private, exact([["rare"]], [1], [0]))
    assert nobody.count == 0


def test_rare_keys_end_up_in_the_rest():
    wanted = replace(private, other=True)
    groups = form_groups(wanted, exact([["rare", None, "often"]], [1, 10, 200], [0, 900, 900]))
    assert shown(groups) == ([["often", None]], [200, 11])
    assert np.isnan(groups.units[-1])


def test_a_missing_key_is_a_key_like_any_other():
    groups = form_groups(private, exact([[None, "often"]], [1, 2], [900, 900]))
    assert shown(groups) == ([["often", None]], [2, 1])


@pytest.mark.parametrize("other", [True, False])
def test_integers_of_any_size_stay_exact(other):
    big = np.array([2**90, 2**62, 1], dtype=object)
    engine = ExactGroups((pa.array(["A", "X", "Y"]),), None, {"n": big})
    numbers = form_groups(plan(1, keys=(WARD,), other=other), engine).features["n"].tolist()
    assert numbers == [0, 2**90, *([2**62 + 1] if other else [])]
    near = ExactGroups((pa.array(["X", "Y"]),), None, {"n": np.array([2**62, 2**62])})
    numbers = form_groups(plan(1, keys=(WARD,), other=True), near).features["n"].tolist()
    assert numbers == [0, 0, 2**63]


def test_far_dates_stay_text():
    far = plan(1, 0.01, keys=(GroupKey("day", "date", None),), thresholding=SURE)
    groups = form_groups(far, exact([["2026-11-15", "infinity"]], [1, 2], [900, 900]))
    assert shown(groups)[0] == [["2026-11-15", "infinity"]]


@pytest.mark.parametrize(
    "declared", [[3, 4, 5, 6], [5, 4, 3], [1], [2, 4, 8], [4, 5, 5 + 2**40]]
)
def test_whole_keys_in_a_row_are_found_as_any_others_are(declared):
    column = pa.array([4, None, 3, 5, 7, -(2**63), 2**63 - 1, 6, 2, 1], pa.int64())
    places = [declared.index(each) if each in declared else None for each in column.to_pylist()]
    in_a_row = declared == list(range(declared[0], declared[0] + len(declared)))
    for find in (_look_up_places, _places_in_range) if in_a_row else (_look_up_places,):
        place, known = find(column, pa.array(declared, pa.int64()))
        assert known.tolist() == [each is not None for each in places]
        assert place[known].tolist() == [each for each in places if each is not None]
        assert set(place[~known].tolist()) <= {0}


NUMBERED = GroupKey("decade", "number", (0, 10, 20), Fraction(10))


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("keys", [(WARD,), (NUMBERED,), (WARD, NUMBERED)])
def test_declared_groups_are_the_same_in_batches(keys, other):
    columns = {"text": ["A", "B", "C", None], "number": [2, 0, None, 7]}
    whole = exact([columns[key.kind] for key in keys], [1, 2**70, 3, 4])
    query_plan = plan(1, keys=keys, other=other)
    assert shown(form_groups(query_plan, batches(whole, [1, 3]))) == shown(
        form_groups(query_plan, whole)
    )
    assert shown(form_groups(query_plan, batches(whole, [0, 4]))) == shown(
        form_groups(query_plan, whole)
    )


@pytest.mark.parametrize("other", [False, True])
def test_private_groups_are_the_same_in_batches(other):
    query_plan = replace(private, other=other)
    # Sure to be kept or sure to be left out, so that noise decides nothing.
    whole = exact([["b", None, "a", "c", "d"]], [1, 2, 3, 2**70, 5], [900, 900, 900, 0, 900])
    once = form_groups(query_plan, whole)
    again = form_groups(query_plan, batches(whole, [2, 4]))
    assert shown(again) == shown(once)
    assert once.units.shape == again.units.shape == (4,)
    none = form_groups(query_plan, batches(exact([pa.array([], pa.string())], [], []), []))
    assert none.count == other


def test_text_of_any_length_is_shown_in_its_usual_type():
    long = exact([pa.array(["A", "B"], pa.large_string())], [1, 2], [900, 900])
    assert form_groups(private, long).keys[0].type == pa.string()
    declared = form_groups(plan(1, keys=(WARD,)), exact([long.keys[0]], [1, 2]))
    assert shown(declared) == ([["B", "A"]], [2, 1])


def batches(whole, cuts):
    """The groups of `whole` as an iterator, cut at these places."""
    ends = [0, *cuts, whole.groups]
    return iter(
        ExactGroups(
            tuple(column[a:b] for column in whole.keys),
            None if whole.units is None else whole.units[a:b],
            {name: _plain(values[a:b]) for name, values in whole.features.items()},
        )
        for a, b in pairwise(ends)
    )


def _plain(values):
    """As an engine hands a batch over: int64 unless an integer is wider."""
    fits = all(abs(int(number)) < 2**63 for number in values)
    return values.astype(np.int64 if fits else object)
