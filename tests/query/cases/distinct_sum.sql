-- policy: person
-- python: ask.group_by("ward").agg(total=sum_distinct("cost"))
SELECT ward, SUM(DISTINCT cost) AS total FROM visits GROUP BY ward
