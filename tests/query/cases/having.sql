-- policy: row
-- python: ask.group_by("ward").agg(n=count(), having="n > 5", order_by="n", descending=True, limit=2)
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 5 ORDER BY n DESC LIMIT 2
