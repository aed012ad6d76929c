-- policy: person
-- python: ask.group_by(hour="DATE_TRUNC('hour', admitted)").agg(n=count())
SELECT DATE_TRUNC('hour', admitted) AS hour, COUNT(*) AS n FROM visits GROUP BY hour
