-- policy: row
-- python: ask.group_by(decade="FLOOR(age / 10) * 10").agg(n=count())
SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade
