"""Surveys: what needs more than one channel, from the plan to the report.

>>> import deniable as dp
>>> coins = dp.RandomizedResponse(odds=3)
>>> dp.surveys.crosstab(coins, coins, counts=[[1150, 850], [850, 1150]]).raw.round(3).tolist()
[[0.4, 0.1], [0.1, 0.4]]
"""

from deniable.surveys.collect.private_copy import PrivateCopy, randomize
from deniable.surveys.collect.shuffled_collection import collected_loss
from deniable.surveys.collect.simulation import Simulated, simulate
from deniable.surveys.collect.waves import Memory, over_waves
from deniable.surveys.estimate.among_respondents import among_respondents
from deniable.surveys.estimate.comparison import Difference, compare
from deniable.surveys.estimate.crosstab import CrossTab, Independence, crosstab
from deniable.surveys.estimate.decoding import Decoded, decode
from deniable.surveys.estimate.pooling import Pooled, pool
from deniable.surveys.estimate.regression import Regression, logistic
from deniable.surveys.estimate.simplex import likeliest, on_simplex
from deniable.surveys.estimate.unrelated import Unrelated, unrelated
from deniable.surveys.estimate.weights import Weighted, weighted
from deniable.surveys.honesty.carelessness import (
    Attention,
    Cleaned,
    attention,
    without_careless,
)
from deniable.surveys.honesty.deviations import (
    Attentive,
    TwoDevices,
    attentive,
    forgery,
    if_some_deny,
    if_some_lie,
    two_devices,
)
from deniable.surveys.honesty.doubts import Doubts
from deniable.surveys.questionnaire.designs import DesignedQuestion, ask
from deniable.surveys.questionnaire.epsilon_split import Ways, ways
from deniable.surveys.questionnaire.lint import LintFinding, lint
from deniable.surveys.questionnaire.phrases import Phrases
from deniable.surveys.questionnaire.questionnaire import (
    Questionnaire,
    SurveyQuestion,
    load,
    loads,
)
from deniable.surveys.questionnaire.reports import Collected, collect, read_reports
from deniable.surveys.questionnaire.sentences import what_an_answer_proves
from deniable.surveys.questionnaire.survey_plan import SurveyPlan, plan
from deniable.surveys.report import SurveyReport, report

__all__ = [
    "Attention",
    "Attentive",
    "Cleaned",
    "Collected",
    "CrossTab",
    "Decoded",
    "DesignedQuestion",
    "Difference",
    "Doubts",
    "Independence",
    "LintFinding",
    "Memory",
    "Phrases",
    "Pooled",
    "PrivateCopy",
    "Questionnaire",
    "Regression",
    "Simulated",
    "SurveyPlan",
    "SurveyQuestion",
    "SurveyReport",
    "TwoDevices",
    "Unrelated",
    "Ways",
    "Weighted",
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
