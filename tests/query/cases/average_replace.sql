-- policy: replace
-- python: ask.group_by("ward").agg(n=count(), cost=mean("cost"))
SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward
