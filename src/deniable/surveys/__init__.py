"""Surveys: what needs more than one channel, from the plan to the report.

>>> import deniable as dp
>>> coins = dp.RandomizedResponse(odds=3)
>>> dp.surveys.crosstab(coins, coins, counts=[[1150, 850], [850, 1150]]).raw.round(3).tolist()
[[0.4, 0.1], [0.1, 0.4]]
"""

from deniable.surveys.comparison import Difference, compare
from deniable.surveys.corrected import likeliest, on_simplex
from deniable.surveys.crosstab import CrossTab, Independence, crosstab
from deniable.surveys.decoding import Decoded, decode
from deniable.surveys.honesty import (
    Attentive,
    TwoDevices,
    attentive,
    forgery,
    if_some_deny,
    two_devices,
)
from deniable.surveys.pooling import Pooled, pool
from deniable.surveys.private_copy import PrivateCopy, randomize
from deniable.surveys.regression import Regression, logistic
from deniable.surveys.sample import among_respondents
from deniable.surveys.weights import Weighted, weighted

__all__ = [
    "Attentive",
    "CrossTab",
    "Decoded",
    "Difference",
    "Independence",
    "Pooled",
    "PrivateCopy",
    "Regression",
    "TwoDevices",
    "Weighted",
    "among_respondents",
    "attentive",
    "compare",
    "crosstab",
    "decode",
    "forgery",
    "if_some_deny",
    "likeliest",
    "logistic",
    "on_simplex",
    "pool",
    "randomize",
    "two_devices",
    "weighted",
]
