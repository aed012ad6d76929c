"""Estimates and intervals as text. The ends of an interval are rounded outwards."""

import math

from deniable.surveys.results.result_numbers import ResultNumber

_MINUS = "−"


def value_text(number: ResultNumber) -> str:
    """The estimate: a share in per cent, a mean in its own unit; cut to what is possible.

    >>> from fractions import Fraction
    >>> from deniable.surveys.estimate.look_rules import LookRule
    >>> rule = LookRule(anytime=False)
    >>> reading = rule.share(400, 1000, Fraction(3, 4), Fraction(1, 4))
    >>> share = ResultNumber("doping", 1, "yes", reading)
    >>> value_text(share), interval_text(share)
    ('30.0 %', '23.8 % to 36.3 %')
    """
    value = number.reading.estimate.value
    return _decimals(value, 2) if number.is_mean else f"{100 * value:.1f} %"


def interval_text(number: ResultNumber) -> str:
    """The interval, or that the reports do not fit the design."""
    estimate = number.reading.estimate
    if not estimate.consistent:
        return "does not fit the design"
    low, high = estimate.interval
    if number.is_mean:
        return f"{_decimals(_down(low, 100), 2)} to {_decimals(_up(high, 100), 2)}"
    return f"{100 * _down(low, 1000):.1f} % to {100 * _up(high, 1000):.1f} %"


def shift_text(number: ResultNumber, false_reports: int) -> str:
    """How far this many false reports could move the number, rounded up.

    >>> from fractions import Fraction
    >>> from deniable.surveys.estimate.look_rules import LookRule
    >>> reading = LookRule().share(400, 1000, Fraction(3, 4), Fraction(1, 4))
    >>> shift_text(ResultNumber("doping", 1, "yes", reading), 10)
    '± 1.5 points'
    """
    shift = number.reading.influence * false_reports
    if not math.isfinite(shift):
        return "by any amount"
    if number.is_mean:
        return f"± {_decimals(_up(shift, 100), 2)}"
    return f"± {min(100 * _up(shift, 1000), 100):.1f} points"


def round_outwards(interval: tuple[float, float], decimals: int) -> tuple[float, float]:
    """Both ends with this many decimals.

    >>> round_outwards((0.12345, 0.54321), 3)
    (0.123, 0.544)
    """
    return _down(interval[0], 10**decimals), _up(interval[1], 10**decimals)


def _down(x: float, parts: int) -> float:
    return x if math.isnan(x) else math.floor(x * parts) / parts


def _up(x: float, parts: int) -> float:
    return x if math.isnan(x) else math.ceil(x * parts - 1e-9) / parts


def _decimals(x: float, decimals: int) -> str:
    return f"{x:.{decimals}f}".replace("-", _MINUS)
