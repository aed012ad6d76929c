-- policy: person
-- python: ask.group_by("ward", "urgent").agg(n=count())
SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY 1, 2
