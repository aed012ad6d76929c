"""The features of two columns, for CORR, COVAR_POP, COVAR_SAMP, REGR_SLOPE, REGR_INTERCEPT.

Both columns are cut to their limits, so that t = x - low lies between 0 and W, and s of the
other between 0 and V. The products of Bernstein polynomials of the two,

    C(a, i) t**i (W - t)**(a - i) * C(b, j) s**j (V - s)**(b - j),   0 <= i <= a, 0 <= j <= b,

are non-negative integers and add up to W**a V**b in every row, so they are paid for once.
The number of rows where both are known, both means, the mean of the product and, where a or b
is 2, the mean squares are weighted sums of these. Covariances take degrees (1, 1), a slope
(2, 1), a correlation (2, 2).

A slope could also be the median of the slopes of pairs of rows, which a few outliers cannot
change much. But the pairs must be chosen without looking at the data, and a database table has
no order that stays the same when a row is added. Outliers do little harm here anyway, because
both columns are cut. So moments are used.
"""

from math import comb

from sqlglot import exp

from deniable.query.relations.sql_nodes import Sql, number
from deniable.query.statements.statistics import Statistic


def products(i: int, statistic: Statistic) -> list[Sql]:
    """The features of one row; NULL where either argument is NULL."""
    assert statistic.second is not None
    a, b = statistic.degrees
    first = _polynomials(exp.column(f"x{i}"), statistic, a)
    second = _polynomials(exp.column(f"x{i}b"), statistic.second, b)
    return [exp.Mul(this=t.copy(), expression=s.copy()) for t in first for s in second]


def _polynomials(value: Sql, statistic: Statistic, degree: int) -> list[Sql]:
    """Bernstein polynomials of a value in 64 bits, counted from its lower limit."""
    big = exp.cast(value, "bigint", copy=False)
    low, high = statistic.low, statistic.low + statistic.width
    t: Sql = exp.paren(exp.Sub(this=big, expression=number(low))) if low else big
    rest = exp.paren(exp.Sub(this=number(high), expression=big.copy()))
    polynomials: list[Sql] = []
    for i in range(degree + 1):
        factors = [t] * i + [rest] * (degree - i)
        if comb(degree, i) > 1:
            factors.insert(0, number(comb(degree, i)))
        product = factors[0].copy()
        for factor in factors[1:]:
            product = exp.Mul(this=product, expression=factor.copy())
        polynomials.append(exp.paren(product))
    return polynomials
