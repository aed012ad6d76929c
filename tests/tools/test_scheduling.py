from pathlib import Path
from unittest.mock import Mock

import pytest

from tools.scheduling import (
    FunctionScheduling,
    group_of,
    name_without_group,
    pytest_collection_modifyitems,
    pytest_xdist_make_scheduler,
)

NAME = "tests/exact/test_bits.py::Bits::test_counts"
SCOPES = {
    NAME: NAME,
    f"{NAME}[1]": NAME,
    f"{NAME}[a[0]-b@c]": NAME,
    f"{NAME}@spark": "spark",
    f"{NAME}[1]@spark": "spark",
}


@pytest.mark.parametrize(("name", "scope"), SCOPES.items(), ids=[*"abcde"])
def test_cases_of_a_function_or_a_group_go_to_one_worker(name, scope):
    assert object.__new__(FunctionScheduling)._split_scope(name) == scope


def test_only_loadgroup_is_changed():
    config = Mock(**{"getvalue.return_value": "load"})
    assert pytest_xdist_make_scheduler(config, None) is None
    config = Mock(**{"getvalue.side_effect": {"dist": "loadgroup", "tx": ["2*popen"]}.get})
    assert isinstance(pytest_xdist_make_scheduler(config, None), FunctionScheduling)


SUITE = """
import pathlib
import pytest

@pytest.fixture(scope="module")
def shared():
    with pathlib.Path({log!r}).open("a") as log:
        log.write("{name}\\n")

@pytest.mark.parametrize("x", range({cases}))
def test_one(shared, x): pass

@pytest.mark.parametrize("x", range({cases} - 2))
def test_two(shared, x): pass

def test_alone(): pass
"""

GROUPED = """
import os
import pathlib
import pytest

@pytest.mark.xdist_group("together")
@pytest.mark.parametrize("x", range(4))
def test_{name}(x):
    with pathlib.Path({log!r}).open("a") as log:
        log.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


def test_a_fixture_of_a_module_is_made_once(pytester, monkeypatch):
    """By number of cases, the functions of both files would come in turns."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    log = pytester.path / "shared.txt"
    for name, cases in {"a": 5, "b": 4}.items():
        text = SUITE.format(log=str(log), name=name, cases=cases)
        pytester.makepyfile(**{f"test_{name}": text})
    run = pytester.runpytest_subprocess("-n1", "--dist=loadgroup", "-ptools.scheduling")
    run.assert_outcomes(passed=16)
    assert sorted(log.read_text().split()) == ["a", "b"]


def test_what_is_done_is_forgotten():
    """The work of a worker is counted after each test, so it must not grow with the run."""
    config = Mock(**{"getvalue.side_effect": {"dist": "loadgroup", "tx": ["1*popen"]}.get})
    config.option.loadscopereorder = False
    scheduling, node = FunctionScheduling(config), Mock(shutting_down=False)
    names = [f"{NAME}[{case}]" for case in range(3)] + [f"{NAME}_{other}" for other in range(6)]
    scheduling.add_node(node)
    scheduling.add_node_collection(node, names)
    scheduling.schedule()
    for done in range(3):
        scheduling.mark_test_complete(node, done)
    assert NAME not in scheduling.assigned_work[node]
    for done in range(3, len(names)):
        scheduling.mark_test_complete(node, done)
    assert scheduling.assigned_work[node] == {}
    assert scheduling.tests_finished
    assert not scheduling.has_pending


def test_a_group_goes_to_one_worker(pytester, monkeypatch):
    """As these versions of pytest and pytest-xdist do it: together they may forget groups."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    log = pytester.path / "workers.txt"
    for name in "abc":
        pytester.makepyfile(**{f"test_{name}": GROUPED.format(log=str(log), name=name)})
    run = pytester.runpytest_subprocess("-n2", "--dist=loadgroup", "-ptools.scheduling")
    run.assert_outcomes(passed=12)
    assert len(set(log.read_text().split())) == 1


def test_a_name_without_its_group(pytester):
    """Random bits follow from it, and must be those of a run without workers."""
    text = "import pytest\n@pytest.mark.xdist_group('g')\n"
    text += "@pytest.mark.parametrize('x', ['a@b'])\ndef test_x(x): pass"
    (item,) = pytester.getitems(text)
    name = item.nodeid
    assert (group_of(item), name_without_group(item)) == ("g", name)
    item.config.option.loadgroup = True
    pytest_collection_modifyitems(item.config, [item])
    pytest_collection_modifyitems(item.config, [item])
    assert item.nodeid == f"{name}@g"
    assert name_without_group(item) == name
