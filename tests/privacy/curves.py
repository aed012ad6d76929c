"""The exact delta curves, written a second time, in mpmath at 80 digits."""

from tests.privacy.contract import mp


def pure(epsilon, x):
    """Randomized response; epsilon and x in nats."""
    return max((mp.exp(epsilon) - mp.exp(x)) / (1 + mp.exp(epsilon)), mp.mpf(0))


def approximate(epsilon, delta, x):
    return delta + (1 - delta) * pure(epsilon, x)


def gaussian(mu, x):
    """Balle & Wang 2018; `ncdf` of a negative number has small relative error."""
    if mu == 0:
        return mp.mpf(0)
    with mp.workdps(120):
        return mp.ncdf(mu / 2 - x / mu) - mp.exp(x) * mp.ncdf(-mu / 2 - x / mu)


def concentrated(rho, x):
    """Canonne, Kamath & Steinke 2020, by bisection on the slope in the order."""

    def slope(t):
        return (2 * t + 1) * rho - x - mp.log1p(1 / t)

    lo, hi = mp.exp(-3 * rho), (x + 1) / rho + 1
    for _ in range(160):
        middle = mp.sqrt(lo * hi)
        lo, hi = (lo, middle) if slope(middle) > 0 else (middle, hi)
    t = mp.sqrt(lo * hi)
    with mp.workdps(120):
        power = t * ((1 + t) * rho - x) - mp.log(t) + (1 + t) * (mp.log(t) - mp.log1p(t))
        return min(mp.exp(power), mp.mpf(1))


def randomized_responses(epsilon, k, x):
    """k randomized responses together (Kairouz, Oh & Viswanath 2015): the truth for k pure
    losses of epsilon."""
    total = mp.mpf(0)
    for j in range(k + 1):
        loss = (k - 2 * j) * epsilon
        if loss > x + mp.mpf(10) ** -70:  # nearer than that the two are equal, up to rounding
            weight = mp.binomial(k, j) * mp.exp((k - j) * epsilon) / (1 + mp.exp(epsilon)) ** k
            total += weight * -mp.expm1(x - loss)
    return total
