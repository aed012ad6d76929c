"""Plans for levels: the rows of the finest groups, and how far one unit can move them."""

import numpy as np
import pyarrow.compute as pc
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidParameter, InvalidQuery
from deniable.mechanisms import Gaussian
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.query.pairs import MAX_GROUPS, MAX_ROWS, pairs
from tests.query.statements.test_aggregate_statement_neighbors import policy

LEVELS = [(), (0,), (1,), (0, 1)]  # of the keys ward and flag
AGGREGATES = ["COUNT(*)", "SUM(x)", "SUM(y)", "COUNT(x), SUM(y), COUNT(*)"]


@pytest.fixture(scope="module")
def engines(size):
    count = size(small=300, full=10_000, what="neighbouring tables an aggregate and level")
    opened = {}
    for relation in ("add-remove", "replace"):
        for person in (True, False):
            table = pairs(count, relation=relation, person=person, seed=[count, person, 3])
            opened[relation, person] = DuckDB.open({"data": table.filter(pc.field("unit") < 0)})
    yield count, opened
    for engine in opened.values():
        engine.close()


def cells(integers, keys):
    """The place of each row among all pairs, wards and flags."""
    place = np.asarray(integers.keys[0])
    for column, key in zip(integers.keys[1:], keys, strict=True):
        listed = ["ABCDEF", [True, False]][key]
        place = place * len(listed) + np.array([listed.index(v) for v in column.to_pylist()])
    return place, int(np.prod([[6, 2][key] for key in keys], dtype=int))


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("person", [True, False])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_no_unit_moves_a_level_further_than_declared(engines, aggregate, relation, person):
    count, opened = engines
    known = policy(count, relation=relation, person=person)
    text = f"SELECT {aggregate} FROM data WHERE x > 1 OR x IS NULL GROUP BY {{}}ward, flag"
    most = 0.0
    for level in LEVELS:
        declared = plan(parse(text.format("")), known, epsilon=1, delta=0, level=level)
        apart = (0, *(place + 1 for place in level))
        probe = plan(parse(text.format("pair, ")), known, epsilon=1, delta=0, level=apart)
        answer = opened[relation, person].run(probe).reveal_to(lambda exact: exact)
        place, groups = cells(answer, level)
        for block in declared.blocks:
            assert not isinstance(block.mechanism, Gaussian)
            moved = 0
            for name in block.features:
                dense = np.zeros(2 * count * groups, dtype=object)
                dense[place] = answer.features[name]
                sides = dense.reshape(count, 2, groups)
                moved = moved + np.abs(sides[:, 0] - sides[:, 1]).sum(axis=1)
            assert moved.max() <= block.mechanism.sensitivity, level
            most = max(most, float(moved.max() / block.mechanism.sensitivity))
    assert most >= 0.5  # not padded either


@pytest.mark.parametrize("person", [True, False])
def test_a_level_adds_up_what_the_finest_groups_hold(engines, person):
    count, opened = engines
    known = policy(count, relation="add-remove", person=person)
    text = "SELECT COUNT(*), SUM(y) FROM data GROUP BY pair, ward, flag"
    level_of = {}
    for level in [(0, 1, 2), (), (0,), (2,), (0, 2), (1, 2)]:
        made_plan = plan(parse(text), known, epsilon=1, delta=0, level=level)
        answer = opened["add-remove", person].run(made_plan).reveal_to(lambda exact: exact)
        keys = list(zip(*(k.to_pylist() for k in answer.keys), strict=True))
        columns = list(answer.features.values())
        level_of[level] = {
            key: [int(column[i]) for column in columns] for i, key in enumerate(keys or [()])
        }
    finest = level_of.pop((0, 1, 2))
    whole = opened["add-remove", person].run(plan(parse(text), known, epsilon=1, delta=0))
    assert whole.reveal_to(lambda exact: len(exact.keys[0])) == len(finest) > 100
    for level, groups in level_of.items():
        added: dict[tuple, list[int]] = {}
        for key, numbers in finest.items():
            own = added.setdefault(tuple(key[place] for place in level), [0] * len(numbers))
            own[:] = [a + b for a, b in zip(own, numbers, strict=True)]
        assert added == groups


def test_a_unit_may_have_all_its_rows_in_one_group_of_a_level():
    known = policy(3, relation="add-remove", person=True)
    text = "SELECT COUNT(*) FROM data GROUP BY ward, flag"
    finest = plan(parse(text), known, epsilon=1, delta=0)
    assert (finest.max_groups_per_unit, finest.max_rows_per_unit_per_group) == (2, MAX_ROWS)
    total = plan(parse(text), known, epsilon=1, delta=0, level=())
    assert (total.max_groups_per_unit, total.max_rows_per_unit_per_group) == (1, 2 * MAX_ROWS)
    assert total.max_rows_per_unit == MAX_GROUPS * MAX_ROWS
    assert total.blocks[0].mechanism.sensitivity == finest.blocks[0].mechanism.sensitivity


def test_levels_of_private_keys_and_other_places_are_refused():
    known = policy(3, relation="add-remove", person=True)
    with pytest.raises(InvalidQuery, match="declared"):
        plan(parse("SELECT COUNT(*) FROM data GROUP BY code"), known, epsilon=1, level=())
    question = parse("SELECT COUNT(*) FROM data GROUP BY ward, flag")
    for level in ((1, 0), (2,), "0", [0], (0, 0)):
        with pytest.raises(InvalidParameter, match="places of keys"):
            plan(question, known, epsilon=1, level=level)
