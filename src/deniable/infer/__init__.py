"""What released numbers say beyond these rows: sampling error, differences and tests.

Everything here is computed from released numbers, so it costs no privacy, and this room can
reach no engine. An interval states the error of the noise and of sampling, apart and together.

>>> import deniable as dp
>>> import pyarrow as pa
>>> rows = pa.table({"ward": ["A", "B"] * 4000, "sick": [1, 0, 0, 0] * 2000})
>>> visits = dp.protect(rows, bounds={"sick": (0, 1)}, keys={"ward": ["A", "B"]}, epsilon=1)
>>> question = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS share FROM data GROUP BY ward"
>>> print(dp.infer.difference(visits.sql(question, epsilon=1), "A", "B"))  # doctest: +ELLIPSIS
AVG(sick) of A less that of B: 0... from noise, ... from sampling; 0... in all, at 95 %; p ...
"""

from deniable.infer.anova import anova_test
from deniable.infer.comparisons import all_pairs, difference, odds_ratio, ratio, trend
from deniable.infer.experiments import Experiment, Looks, Power, Report
from deniable.infer.inferred import Inferred, plot, plot_differences
from deniable.infer.mean_tests import equivalence_test, t_test
from deniable.infer.population import Population
from deniable.infer.proportion_tests import proportion_test, proportions_test
from deniable.infer.rank_tests import rank_test
from deniable.infer.significance import Significance
from deniable.infer.sums import share, total
from deniable.infer.table_tests import fit_test, independence_test
from deniable.infer.weighted_means import weighted

__all__ = [
    "Experiment",
    "Inferred",
    "Looks",
    "Population",
    "Power",
    "Report",
    "Significance",
    "all_pairs",
    "anova_test",
    "difference",
    "equivalence_test",
    "fit_test",
    "independence_test",
    "odds_ratio",
    "plot",
    "plot_differences",
    "proportion_test",
    "proportions_test",
    "rank_test",
    "ratio",
    "share",
    "t_test",
    "total",
    "trend",
    "weighted",
]
