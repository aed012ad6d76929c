-- policy: row
-- python: ask.group_by("ward").agg(p=covariance("cost", "age", population=True), s=covariance("cost", "age"))
SELECT ward, COVAR_POP(cost, age) AS p, COVAR_SAMP(cost, age) AS s
FROM visits
GROUP BY ward
