-- policy: person
-- python: ask.agg(r=corr("cost", "age"))
SELECT CORR(cost, age) AS r
FROM visits
