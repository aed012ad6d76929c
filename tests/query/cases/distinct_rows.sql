-- policy: row
-- python: ask.agg(days=count_distinct("admitted"), weights=count_distinct("weight + 1"))
SELECT COUNT(DISTINCT admitted) AS days, COUNT(DISTINCT weight + 1) AS weights
FROM visits
