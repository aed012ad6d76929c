-- policy: row
-- python: ask.group_by("diagnosis").agg(n=count())
SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis
