"""What privacy must cost: lower bounds, sample sizes, and how close a mechanism is to them.

>>> import deniable as dp
>>> print(dp.price.efficiency(dp.Laplace(epsilon=1)).bound)
variance >= 0.920674 (Hammersley 1950; Chapman & Robbins 1951; at 1 change)
>>> dp.price.proportion(margin=0.01, n=400, epsilon=0.1).verdict
'impossible'
>>> dp.price.sample_size(dp.RandomizedResponse(odds=3), margin=0.03)  # a direct question: 1068
4269
"""

from deniable.price.bandit_bounds import bandit_regret
from deniable.price.choice_bounds import (
    kept,
    rank_margin,
    selection,
    threshold,
)
from deniable.price.efficiency import Efficiency, efficiency
from deniable.price.feasibility import Feasibility, proportion
from deniable.price.local_bounds import all_shares
from deniable.price.lower_bounds import (
    Bound,
    discrete,
    quarter_optimality,
    two_point,
    two_point_forms,
    unbiased,
    unbiased_classical,
    unbiased_simple,
)
from deniable.price.sample_sizes import (
    CountPrice,
    count,
    epsilon_for_count,
    overhead,
    sample_size_for_mean,
    sample_size_for_proportion,
)
from deniable.price.survey_sizes import (
    SurveyPrice,
    design_effect,
    expected_margin,
    power,
    sample_size,
    sample_size_for_power,
    survey,
)

__all__ = [
    "Bound",
    "CountPrice",
    "Efficiency",
    "Feasibility",
    "SurveyPrice",
    "all_shares",
    "bandit_regret",
    "count",
    "design_effect",
    "discrete",
    "efficiency",
    "epsilon_for_count",
    "expected_margin",
    "kept",
    "overhead",
    "power",
    "proportion",
    "quarter_optimality",
    "rank_margin",
    "sample_size",
    "sample_size_for_mean",
    "sample_size_for_power",
    "sample_size_for_proportion",
    "selection",
    "survey",
    "threshold",
    "two_point",
    "two_point_forms",
    "unbiased",
    "unbiased_classical",
    "unbiased_simple",
]
