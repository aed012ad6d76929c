"""Surveys: what needs more than one channel, from the plan to the report.

>>> import deniable as dp
>>> coins = dp.RandomizedResponse(odds=3)
>>> dp.surveys.crosstab(coins, coins, counts=[[1150, 850], [850, 1150]]).raw.round(3).tolist()
[[0.4, 0.1], [0.1, 0.4]]
"""

from deniable.surveys.asking import Asked, ask
from deniable.surveys.carelessness import Attention, Cleaned, attention, without_careless
from deniable.surveys.collected import Collected, collect, read_reports
from deniable.surveys.comparison import Difference, compare
from deniable.surveys.corrected import likeliest, on_simplex
from deniable.surveys.crosstab import CrossTab, Independence, crosstab
from deniable.surveys.decoding import Decoded, decode
from deniable.surveys.doubts import Doubts
from deniable.surveys.honesty import (
    Attentive,
    TwoDevices,
    attentive,
    forgery,
    if_some_deny,
    if_some_lie,
    two_devices,
)
from deniable.surveys.lint import Finding, lint
from deniable.surveys.plans import SurveyPlan, plan
from deniable.surveys.pooling import Pooled, pool
from deniable.surveys.private_copy import PrivateCopy, randomize
from deniable.surveys.questionnaire import Question, Questionnaire, load, loads
from deniable.surveys.regression import Regression, logistic
from deniable.surveys.results import SurveyReport, report
from deniable.surveys.sample import among_respondents
from deniable.surveys.sentences import what_an_answer_proves
from deniable.surveys.shuffled_collection import collected_loss
from deniable.surveys.simulation import Simulated, simulate
from deniable.surveys.unrelated import Unrelated, unrelated
from deniable.surveys.waves import Memory, over_waves
from deniable.surveys.ways import Ways, ways
from deniable.surveys.weights import Weighted, weighted
from deniable.surveys.words import Words

__all__ = [
    "Asked",
    "Attention",
    "Attentive",
    "Cleaned",
    "Collected",
    "CrossTab",
    "Decoded",
    "Difference",
    "Doubts",
    "Finding",
    "Independence",
    "Memory",
    "Pooled",
    "PrivateCopy",
    "Question",
    "Questionnaire",
    "Regression",
    "Simulated",
    "SurveyPlan",
    "SurveyReport",
    "TwoDevices",
    "Unrelated",
    "Ways",
    "Weighted",
    "Words",
    "among_respondents",
    "ask",
    "attention",
    "attentive",
    "collect",
    "collected_loss",
    "compare",
    "crosstab",
    "decode",
    "forgery",
    "if_some_deny",
    "if_some_lie",
    "likeliest",
    "lint",
    "load",
    "loads",
    "logistic",
    "on_simplex",
    "over_waves",
    "plan",
    "pool",
    "randomize",
    "read_reports",
    "report",
    "simulate",
    "two_devices",
    "unrelated",
    "ways",
    "weighted",
    "what_an_answer_proves",
    "without_careless",
]
