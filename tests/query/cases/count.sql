-- policy: person
-- python: ask.agg(n=count())
SELECT COUNT(*) AS n FROM visits
