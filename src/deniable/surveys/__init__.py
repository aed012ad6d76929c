"""Surveys: from the questionnaire and its plan to the report.

>>> import deniable as dp
>>> coins = dp.RandomizedResponse(odds=3)
>>> dp.surveys.crosstab(coins, coins, counts=[[1150, 850], [850, 1150]]).raw.round(3).tolist()
[[0.4, 0.1], [0.1, 0.4]]
"""

from deniable.surveys.collect.randomized_table import RandomizedTable, randomize
from deniable.surveys.collect.shuffled_collection import collected_loss
from deniable.surveys.collect.simulation import SimulatedSurvey, simulate
from deniable.surveys.collect.waves import Memory, over_waves
from deniable.surveys.estimate.among_respondents import among_respondents
from deniable.surveys.estimate.comparison import Difference, compare
from deniable.surveys.estimate.confidence_sequence import share_sequence
from deniable.surveys.estimate.crosstab import CrossTab, Independence, crosstab
from deniable.surveys.estimate.look_rules import FoundNumber, LookRule
from deniable.surveys.estimate.pooling import PooledPrevalence, pool
from deniable.surveys.estimate.rappor_decoding import DecodedCandidate, decode
from deniable.surveys.estimate.regression import Regression, logistic
from deniable.surveys.estimate.simplex import maximum_likelihood, project_to_simplex
from deniable.surveys.estimate.unrelated_question import UnrelatedEstimate, unrelated_question
from deniable.surveys.estimate.weights import WeightedShare, weighted_share
from deniable.surveys.estimate.within_groups import shares_of_all, shares_within
from deniable.surveys.honesty.carelessness import (
    Attention,
    AttentiveAnswers,
    attention,
    remove_careless_answers,
)
from deniable.surveys.honesty.noncompliance import (
    AttentiveEstimate,
    TwoDevices,
    attentive_prevalence,
    forgery,
    if_some_deny,
    if_some_lie,
    two_devices,
)
from deniable.surveys.honesty.response_bias import ResponseBias
from deniable.surveys.paper.keyed_answers import read_keyed_answers
from deniable.surveys.paper.mode_pooling import PooledAnswer, pool_modes
from deniable.surveys.paper.survey_cards import SurveyCard, write_cards
from deniable.surveys.questionnaire.collected_reports import (
    CollectedReports,
    parse_reports,
    read_reports,
)
from deniable.surveys.questionnaire.designs import DesignedQuestion, design_question
from deniable.surveys.questionnaire.lint import lint
from deniable.surveys.questionnaire.lint_finding import LintFinding
from deniable.surveys.questionnaire.manifest import Manifest, make_manifest, read_manifest
from deniable.surveys.questionnaire.phrases import Phrases
from deniable.surveys.questionnaire.questionnaire import Questionnaire, load, loads
from deniable.surveys.questionnaire.respondent_promises import what_an_answer_proves
from deniable.surveys.questionnaire.survey_plan import SurveyPlan, plan
from deniable.surveys.questionnaire.survey_question import SurveyQuestion
from deniable.surveys.questionnaire.ways_to_ask import WaysToAsk, compare_ways_to_ask
from deniable.surveys.results.result_files import export_files, results_csv, results_json
from deniable.surveys.results.survey_results import SurveyResults, find_results
from deniable.surveys.survey_report import SurveyReport, report

__all__ = [
    "Attention",
    "AttentiveAnswers",
    "AttentiveEstimate",
    "CollectedReports",
    "CrossTab",
    "DecodedCandidate",
    "DesignedQuestion",
    "Difference",
    "FoundNumber",
    "Independence",
    "LintFinding",
    "LookRule",
    "Manifest",
    "Memory",
    "Phrases",
    "PooledAnswer",
    "PooledPrevalence",
    "Questionnaire",
    "RandomizedTable",
    "Regression",
    "ResponseBias",
    "SimulatedSurvey",
    "SurveyCard",
    "SurveyPlan",
    "SurveyQuestion",
    "SurveyReport",
    "SurveyResults",
    "TwoDevices",
    "UnrelatedEstimate",
    "WaysToAsk",
    "WeightedShare",
    "among_respondents",
    "attention",
    "attentive_prevalence",
    "collected_loss",
    "compare",
    "compare_ways_to_ask",
    "crosstab",
    "decode",
    "design_question",
    "export_files",
    "find_results",
    "forgery",
    "if_some_deny",
    "if_some_lie",
    "lint",
    "load",
    "loads",
    "logistic",
    "make_manifest",
    "maximum_likelihood",
    "over_waves",
    "parse_reports",
    "plan",
    "pool",
    "pool_modes",
    "project_to_simplex",
    "randomize",
    "read_keyed_answers",
    "read_manifest",
    "read_reports",
    "remove_careless_answers",
    "report",
    "results_csv",
    "results_json",
    "share_sequence",
    "shares_of_all",
    "shares_within",
    "simulate",
    "two_devices",
    "unrelated_question",
    "weighted_share",
    "what_an_answer_proves",
    "write_cards",
]


def __getattr__(name: str) -> object:
    if name == "PrivateCopy":
        raise AttributeError(
            "`PrivateCopy` is now called `RandomizedTable`: the cells of its columns are "
            "randomized. A private copy, with made-up rows, is `session.copy(...)`."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
