"""What a loss means for one person: how far a guess about her can move.

Whoever believes with probability `prior` that the data is one of two neighbours, and not
the other, has odds prior : 1 - prior. By Bayes' rule an output multiplies these odds by the
ratio of its two probabilities, which is at most e^epsilon. Every number here is an upper
bound, exact where the odds are rational.

With a delta, the bound is to be read so: nobody learns more than from a mechanism that
tells all with probability delta and otherwise keeps the odds within e^epsilon (Kairouz, Oh
& Viswanath 2015, theorem 3.1: any other mechanism of that loss is its post-processing).
"""

import math
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact.enclosures import exp_neg
from deniable.exact.rationals import Number, probability, rational
