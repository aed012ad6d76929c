-- policy: row
-- python: ask.agg(n=count())
SELECT COUNT(*) AS n FROM visits
