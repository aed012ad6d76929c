-- policy: replace
-- python: ask.group_by("diagnosis").agg(age=median("age"))
SELECT diagnosis, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) AS age
FROM visits
GROUP BY diagnosis
