"""The bits of the tests are the same in every small run, and fresh at full size."""

import pytest

DRAWS = """
import numpy as np
import pytest
from deniable.exact.bits import SYSTEM

@pytest.fixture(scope="module", params=[1, 2])
def shared(request):
    return SYSTEM.draw(64, 1)

@pytest.mark.parametrize("turn", ["a", "b"])
def test_draw(turn, shared):
    drawn = [*shared, *SYSTEM.draw(64, 2), np.random.default_rng().integers(2**60)]
    with open("drawn.txt", "a") as file:
        print(turn, *drawn, file=file)
"""


def drawn(pytester: pytest.Pytester, *options: str) -> set[str]:
    """What the tests above drew, one line each."""
    file = pytester.path / "drawn.txt"
    file.unlink(missing_ok=True)
    pytester.makeconftest('pytest_plugins = ["tools.bits", "tools.sizes"]')
    pytester.makepyfile(DRAWS)
    pytester.runpytest_inprocess(*options).assert_outcomes(passed=4)
    return set(file.read_text().splitlines())


def test_small_runs_repeat_themselves(pytester):
    first = drawn(pytester)
    assert len(first) == 4
    assert drawn(pytester) == first


def test_full_runs_do_not(pytester):
    assert not drawn(pytester, "--full") & drawn(pytester, "--full")


def test_a_test_and_its_fixture_share_no_bits(pytester):
    words = [word for line in drawn(pytester) for word in line.split()[2:]]
    assert len(set(words)) == len(words)
