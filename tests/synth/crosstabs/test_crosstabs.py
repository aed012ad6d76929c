"""Cross-tables: unbiased, consistent, and their margins hold."""

import json
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.synth.crosstabs.crosstab_plans import plan_crosstabs
from deniable.synth.fit.residuals import Residuals
from tests.synth.crosstabs.test_crosstab_plans import OPTIONS

RNG = np.random.default_rng(5)
ROWS = 4000
CODES = {"a": RNG.integers(0, 2, ROWS), "b": RNG.integers(0, 4, ROWS), "c": None}
CODES["c"] = (CODES["a"] + CODES["b"] + RNG.integers(0, 2, ROWS)) % 3
KEYS = {"a": [0, 1], "b": [0, 1, 2, 3], "c": [0, 1, 2]}
PAIRS = [list(pair) for pair in combinations(KEYS, 2)]


def session(**more):
    budget = {"epsilon": 2, "delta": 1e-5}
    return dp.protect(pa.table(CODES), name="t", keys=KEYS, **{**budget, **more})


def exact(columns):
    table = np.zeros([len(KEYS[name]) for name in columns])
    np.add.at(table, tuple(CODES[name] for name in columns), 1)
    return table


@pytest.fixture(scope="module")
def tables():
    with session() as opened:
        yield opened.crosstabs(PAIRS, epsilon=2, missing=False)


def test_tables_add_up(tables):
    ab, bc, b = tables["a", "b"], tables["b", "c"], tables["b"]
    assert np.allclose(ab.values.sum(axis=0), b.values)
    assert np.allclose(bc.values.sum(axis=1), b.values)
    assert np.isclose(b.values.sum(), tables.total)
    assert b.total == tables.total


def test_a_table_is_near_the_exact_one(tables):
    for pair in PAIRS:
        table = tables[pair]
        assert (abs(table.values - exact(pair)) <= 4 * table.margin).all()
        assert table.margin < 40
    assert (tables["b", "a"].values == tables["a", "b"].values.T).all()
    assert tables["b", "a"].labels == ((0, 1, 2, 3), (0, 1))


def test_without_negative_cells(tables):
    values = tables["a", "b"].nonnegative()
    assert (values >= 0).all()
    assert np.isclose(values.sum(), tables.total)


def test_frames(tables):
    frame = tables["a", "b"].to_pandas()
    assert list(frame.columns) == ["a", "b", "n", "n_margin"]
    assert len(frame) == len(tables["a", "b"]) == 8
    assert (frame["n"].to_numpy().reshape(2, 4) == tables["a", "b"].values).all()
    assert tables["a"].to_polars()["a"].to_list() == [0, 1]


def test_columns_may_be_called_as_our_own():
    """Statements and answers have columns of these names, too."""
    named = {"a": "n", "b": "n_", "c": "n_margin"}
    keys = {named[name]: values for name, values in KEYS.items()}
    frame = pa.table({named[name]: codes for name, codes in CODES.items()})
    with dp.protect(frame, keys=keys, epsilon=2, delta=1e-5) as opened:
        tables = opened.crosstabs([["n", "n_"], ["n_", "n_margin"]], epsilon=2, missing=False)
    assert (abs(tables["n", "n_"].values - exact(("a", "b"))) < 40).all()
    assert (abs(tables["n_", "n_margin"].values - exact(("b", "c"))) < 40).all()
    both = tables["n", "n_"].to_arrow()
    assert both.column_names == ["n__", "n_", "n", "n_margin"]
    assert both["n_"].to_pylist() == [0, 1, 2, 3] * 2


def test_text(tables):
    text = str(tables)
    assert "Margins hold at 95 % each. Cost: epsilon 2, delta 1e-07." in text
    assert "The tables add up to each other." in text
    assert len(tables) == len(list(tables)) == 3


def test_a_notebook_shows_every_table_and_the_cost(tables):
    shown = tables._repr_html_()
    assert shown.count("<table>") == len(tables)
    assert "Cost: epsilon 2" in shown
    assert tables["a", "b"]._repr_html_() in shown


def test_what_was_not_asked_is_not_there(tables):
    with pytest.raises(InvalidParameter, match=r"No table of a, b, c was released"):
        tables["a", "b", "c"]
    with pytest.raises(InvalidParameter, match="No table of d"):
        tables["d"]


def test_a_file_has_the_tables_and_the_certified_releases(tables, tmp_path):
    tables.save(tmp_path / "tables.json")
    read = json.loads((tmp_path / "tables.json").read_text())
    assert [table["columns"] for table in read["tables"]] == PAIRS
    assert len(read["releases"]) == len(tables.certificates) == len(tables.releases)
    assert "statement" in read["releases"][0]["certificate"]


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_margins_hold_and_are_not_padded(size, neighbors):
    """Over many draws of the same plans' noise. Cells of one draw depend on each other, so the
    share of covered cells is one number of each draw."""
    draws = size(small=150, full=2000, what="draws of all cross-tables")
    with session(neighbors=neighbors) as opened:
        terms = {**OPTIONS, "missing": False, "epsilon": 1}
        plans = plan_crosstabs(opened, PAIRS, **terms)
    truth = {c: exact(plans.names(c)) for c in (*plans.plans, *plans.wanted)}
    covered, near = [], []
    for _ in range(draws):
        measured = {}
        for columns, plan in plans.plans.items():
            noisy = plan.blocks[0].mechanism.release(truth[columns].astype(np.int64).ravel())
            shaped = np.asarray(noisy, float).reshape(truth[columns].shape)
            measured[columns] = shaped, plans.cell_variance(columns)
        fitted = Residuals.fit(plans.sizes, measured)
        errors = {c: abs(fitted.table(c) - truth[c]) for c in plans.wanted}
        margins = {c: plans.margin(fitted, c) for c in plans.wanted}
        covered.append(np.mean([(errors[c] <= margins[c]).mean() for c in plans.wanted]))
        near.append(np.mean([(errors[c] <= 0.9 * margins[c]).mean() for c in plans.wanted]))
    error = np.std(covered) / np.sqrt(draws)
    assert np.mean(covered) > 0.95 - 4 * error
    assert np.mean(near) < 0.95 - 2 * error  # a margin that is a tenth smaller does not hold
