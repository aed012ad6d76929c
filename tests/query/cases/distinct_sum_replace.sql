-- policy: replace
-- python: ask.agg(total=sum_distinct("age - 60"), n=count())
SELECT SUM(DISTINCT age - 60) AS total, COUNT(*) AS n FROM visits
