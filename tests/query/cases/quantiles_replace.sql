-- policy: replace
-- python: ask.agg(low=quantile("weight", 0.25), high=quantile("weight", 0.75))
SELECT QUANTILE_CONT(weight, 0.25) AS low, QUANTILE_CONT(weight, 0.75) AS high
FROM visits
