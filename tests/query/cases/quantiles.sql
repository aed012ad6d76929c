-- policy: person
-- python: ask.agg(cost=quantiles("cost", [0.1, 0.25, 0.5, 0.75, 0.9]), above=quantile("cost", 0.75))
SELECT QUANTILE_CONT(cost, [0.1, 0.25, 0.5, 0.75, 0.9]) AS cost,
       PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY cost DESC) AS above
FROM visits
