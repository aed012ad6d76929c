import pytest

from tools import system

SUITE = """
import pytest

@pytest.mark.needs("unicorn")
def test_with_a_program():
    pass

def test_by_hand():
    pytest.skip("no reason")

@pytest.mark.xfail
def test_expected():
    raise AssertionError

def test_plain():
    pass
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs SUITE where `unicorn` is a known program, present or missing."""

    def run(*, ci, unicorn="no-such-program", workers=0):
        monkeypatch.setenv("CI", ci)
        monkeypatch.setitem(system.PROGRAMS, "unicorn", system.Program((unicorn,), "unicorn"))
        pytester.makepyfile(SUITE)
        return pytester.runpytest_inprocess("-p", "tools.needs", "-n", str(workers))

    return run


def test_a_skip_names_what_adds_the_program(run):
    result = run(ci="")
    result.assert_outcomes(passed=1, skipped=2, xfailed=1)
    result.stdout.fnmatch_lines(
        ["1 x no reason", "1 x unicorn is missing; `make system` adds it"]
    )


@pytest.mark.parametrize("ci", ["1", "true", "0"])
def test_in_ci_a_skip_is_a_failure(run, ci):
    result = run(ci=ci)
    result.assert_outcomes(passed=1, failed=1, errors=1, xfailed=1)
    result.stdout.fnmatch_lines(["*nothing may be skipped: unicorn is missing*"])


def test_a_program_that_is_there_is_used(run):
    run(ci="", unicorn="sh").assert_outcomes(passed=2, skipped=1, xfailed=1)


def test_in_ci_a_skipped_file_is_a_failure(pytester, monkeypatch):
    monkeypatch.setenv("CI", "1")
    pytester.makepyfile("import pytest; pytest.importorskip('no_such_module')")
    pytester.runpytest_inprocess("-p", "tools.needs").assert_outcomes(errors=1)


def test_an_unknown_program_is_refused(pytester):
    pytester.makepyfile("import pytest\n@pytest.mark.needs('gnome')\ndef test(): pass")
    result = pytester.runpytest_inprocess("-p", "tools.needs")
    result.stdout.fnmatch_lines(["*Found 'gnome'*"])
