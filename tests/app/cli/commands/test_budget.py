"""`deniable budget`: gauges that never look emptier than they are."""

from fractions import Fraction

import pytest

from deniable.app.cli.commands.budget import WIDTH, draw_bar, format_amounts
from deniable.ledger import FilterUsage

COUNT = "SELECT COUNT(*) AS n FROM visits"


def gauge(spent, limit=1, cap=None, **delta):
    spent = None if spent is None else Fraction(spent)
    cap = Fraction(cap or limit)
    beside = [Fraction(delta.get(name, 0)) for name in ("spent_delta", "limit_delta")]
    return FilterUsage("unit:*", "pure", spent, Fraction(limit), cap, *beside)


@pytest.mark.parametrize(
    ("spent", "full"),
    [
        ("0", 0),
        ("1/1000000", 1),
        ("1/2", WIDTH // 2),
        ("999999/1000000", WIDTH - 1),
        ("1", WIDTH),
    ],
)
def test_the_bar(spent, full):
    assert draw_bar(gauge(spent)).count("█") == full
    assert draw_bar(gauge(spent)).count("░") == WIDTH - full


def test_a_filter_that_grants_nothing_more_is_closed():
    assert "closed" in draw_bar(gauge(None))
    assert "closed" in draw_bar(gauge(2))


def test_amounts_are_rounded_up_and_name_what_will_come():
    told = gauge("1/3", 1, 4, spent_delta="1/3000000", limit_delta="1/1000000")
    assert format_amounts(told) == ("0.333 of 1, later 4", "3.3e-07 of 1e-06")
    assert format_amounts(gauge("2/3")) == ("0.667 of 1", "")


def test_the_command(run):
    run("sql", COUNT, "--epsilon", "1")
    status, out, err = run("budget")
    assert (status, err) == (0, "")
    assert "everybody" in out
    assert "1 of 3" in out
    assert "█" in out
    assert "1 charge so far" in out


def test_before_anything_was_asked(run):
    status, out, _ = run("budget")
    assert status == 0
    assert "0 of 3" in out
    assert "█" not in out


def test_without_a_policy(run):
    status, _, err = run("budget", "--policy", "absent.toml")
    assert status == 2
    assert "deniable init" in err


def test_names_are_shown_as_they_are(run, hospital):
    policy = hospital / "deniable.toml"
    policy.write_text(policy.read_text() + '\n[analysts."*"]\nepsilon = 1\n')
    run("sql", COUNT, "--epsilon", "0.1", "--analyst", "[red]ann[/red]")
    assert "[red]ann[/red]" in run("budget")[1]
