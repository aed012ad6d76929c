-- policy: row
-- python: ask.agg(cost=mean("cost"), cut=clipped("cost"))
SELECT AVG(cost) AS cost, CLIPPED(cost) AS cut FROM visits
