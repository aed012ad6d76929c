-- policy: row
-- python: ask.group_by("ward").agg(total=sum("weight"))
SELECT ward, SUM(weight) AS total FROM visits GROUP BY ward
