"""Examples in docstrings run without a look at every source file, and still fail if wrong."""

import linecache

import pytest

EXAMPLES = '''
def right():
    """
    >>> 1 + 1
    2
    """

def wrong():
    """
    >>> 1 + 1
    3
    """
'''


@pytest.mark.parametrize("plugin", [True, False])
def test_no_example_asks_for_all_sources(pytester, monkeypatch, plugin):
    requests = []
    monkeypatch.setattr(
        linecache, "checkcache", lambda filename=None: requests.append(filename)
    )
    before = linecache.checkcache
    pytester.makepyfile(examples=EXAMPLES)
    # What pytest itself asks for, to show a failure, is one file each.
    options = ["--doctest-modules", "examples.py", *(["-p", "tools.doctests"] * plugin)]
    pytester.runpytest_inprocess(*options).assert_outcomes(passed=1, failed=1)
    assert (None in requests) != plugin
    assert linecache.checkcache is before
