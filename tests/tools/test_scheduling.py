from unittest.mock import Mock

import pytest

from tools.scheduling import FunctionScheduling, pytest_xdist_make_scheduler

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
