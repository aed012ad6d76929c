"""The public face: every name is there, found lazily, explained, and nothing is missing."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import deniable as dp

ROOT = Path(__file__).parents[1]
SHOWN_ROOMS = ("deniable.errors", "deniable.privacy", "deniable.mechanisms")
# For the rooms below: types to annotate with, what `parallel` returns, and their makers.
INNER = {
    "Loss",
    "Filter",
    "Reserved",
    "Sampled",
    "Shuffled",
    "Neighbors",
    "Parallel",
    "concentrated",
    "neighboring",
}


def loaded(statement):
    """The modules that a fresh interpreter holds after the statement."""
    code = f"{statement}; import sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


@pytest.mark.parametrize("name", dp.__all__)
def test_every_name_is_there_and_explained(name):
    value = getattr(dp, name)
    assert value.__name__.removeprefix("deniable.") == name
    assert inspect.getdoc(value)
    if not (isinstance(value, type) and issubclass(value, Exception)):
        finder = doctest.DocTestFinder(recurse=True)
        assert any(test.examples for test in finder.find(value, name)), "has no example"


def test_names_are_listed_once_and_the_same_everywhere():
    table = [name for names in dp._ROOMS.values() for name in names]
    assert sorted(table) == sorted(dp.__all__)
    assert len(set(table)) == len(table)
    assert set(dir(dp)) == {*dp.__all__, "__version__"}


def test_type_checkers_see_the_same_names():
    """So do editors: they complete names from the stub, and look at no `__getattr__`."""
    tree = ast.parse(Path(dp.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    block = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert all(alias.asname == alias.name for node in block for alias in node.names)
    seen = {node.module: set() for node in block}
    for node in block:
        seen[node.module] |= {alias.name for alias in node.names}
    assert seen == {room: set(names) for room, names in dp._ROOMS.items()}


@pytest.mark.parametrize(("name", "meant"), [("laplace", "Laplace"), ("guassian", "Gaussian")])
def test_a_misspelt_name_gets_a_suggestion(name, meant):
    with pytest.raises(AttributeError, match=f"Did you mean `{meant}`"):
        getattr(dp, name)
    with pytest.raises(AttributeError, match=r"no attribute '_repr'$"):
        dp._repr  # noqa: B018


def test_nothing_public_is_missing():
    for room in SHOWN_ROOMS:
        module = sys.modules.get(room) or __import__(room, fromlist=["*"])
        public = getattr(module, "__all__", None) or [
            name for name, value in vars(module).items() if inspect.isclass(value)
        ]
        assert set(public) - INNER <= set(dp.__all__), room


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="'Laplacian'"):
        dp.Laplacian  # noqa: B018


def test_importing_loads_nothing_heavy():
    assert not loaded("import deniable") & {"numpy", "scipy", "typing", "cryptography", "rich"}


def test_a_loss_needs_no_numpy():
    assert "deniable.mechanisms" not in loaded("import deniable as dp; dp.PureLoss(1)")


def test_mechanisms_load_no_application():
    assert not loaded("import deniable as dp; dp.Laplace") & {"typer", "rich", "scipy.stats"}


def test_a_release_loads_no_engine():
    """Rooms that may see only released numbers can import it."""
    seen = loaded(
        "import deniable.release.session.release, deniable.release.answer.answer_table"
    )
    assert "deniable.release.session.release" in seen
    assert not [name for name in seen if name.startswith(("deniable.engines", "duckdb"))]


def test_opening_a_file_loads_no_frames(tmp_path):
    (tmp_path / "visits.csv").write_text("patient,cost\n1,20\n2,30\n")
    policy = tmp_path / "deniable.toml"
    policy.write_text(
        "budget.epsilon = 1\n[tables.visits]\nsource = 'visits.csv'\nunit = 'patient'\n"
        "max_groups_per_unit = 1\nmax_rows_per_unit_per_group = 1\n"
    )
    opened = loaded(f"import deniable as dp; dp.open({str(policy)!r})")
    assert "duckdb" in opened
    assert not opened & {"pandas", "narwhals", "scipy.stats"}


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert dp.__version__ == project["version"]


def test_every_guarantee_names_a_test_that_exists():
    page = (ROOT / "docs" / "reference" / "guarantees.md").read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| ")]
    rows = [row for row in rows if not row.startswith(("| promise", "|---"))]
    assert len(rows) > 30
    assert [row for row in rows if not re.search(r"`(tests|tools)/[^`]+`", row)] == []
    named = re.findall(r"`(tests/[^`]+)`", page)
    assert [path for path in named if not (ROOT / path).exists()] == []
