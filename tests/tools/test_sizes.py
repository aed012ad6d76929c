from pathlib import Path

import pytest

SUITE = """
import pytest

@pytest.fixture(scope="module")
def sample(size):
    return size(small=10, full=10_000, what="draws in a fixture")

@pytest.mark.parametrize("k", range(4))
def test_sample(sample, size, figure, k):
    figure(f"{k} of 4")
    assert sample == EXPECTED
    size(small=7, full=7, what="draws in a test")

@pytest.mark.one_in(3)
@pytest.mark.parametrize("k", range(7))
def test_cases(k):
    assert k in (0, 3, 6) or EXPECTED == 10_000
"""


@pytest.mark.parametrize(
    ("workers", "full", "expected"), [(2, (), 10), (0, ("--full",), 10_000)]
)
def test_sizes_are_chosen_and_stated(pytester, monkeypatch, workers, full, expected):
    monkeypatch.delenv("DENIABLE_FULL", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile(SUITE.replace("EXPECTED", str(expected)))
    result = pytester.runpytest_subprocess("-p", "tools.sizes", "-n", str(workers), *full)
    result.assert_outcomes(passed=11 if full else 7)
    cases = "" if full else " 3 of 7 cases of test_cases;"
    result.stdout.fnmatch_lines(
        [
            f"*sizes: {'full' if full else 'small'}*",
            f"*.py: {expected:,} draws in a fixture;{cases} 7 draws in a test",
        ]
    )
    stated = "*::test_sample[[]3]: 3 of 4"
    if full:
        result.stdout.fnmatch_lines(["*figures*", stated])
    else:
        result.stdout.no_fnmatch_line(stated)


def test_a_case_that_is_named_is_run(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    file = pytester.makepyfile("import pytest\n" + SUITE.replace("EXPECTED", "10_000"))
    named = f"{file.name}::test_cases[1]"
    result = pytester.runpytest_subprocess("-p", "tools.sizes", named)
    result.assert_outcomes(passed=1)
