-- policy: row
-- python: ask.where("urgent").group_by("ward").agg(cost=median("cost"), n=count())
SELECT ward, MEDIAN(cost) AS cost, COUNT(*) AS n
FROM visits
WHERE urgent
GROUP BY ward
