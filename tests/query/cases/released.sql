-- policy: person
-- python: ask.group_by("ward").agg(mean="ROUND(AVG(cost), 2)", per="SUM(cost) / NULLIF(COUNT(*), 0)", size="CASE WHEN COUNT(*) > 20 THEN 'large' ELSE 'small' END", label="CONCAT(ward, ': ', COUNT(*))", having="ward <> 'C' AND COUNT(*) > 1", order_by="UPPER(ward)")
SELECT ward, ROUND(AVG(cost), 2) AS mean, SUM(cost) / NULLIF(COUNT(*), 0) AS per, CASE WHEN COUNT(*) > 20 THEN 'large' ELSE 'small' END AS size, CONCAT(ward, ': ', COUNT(*)) AS label FROM visits GROUP BY ward HAVING ward <> 'C' AND COUNT(*) > 1 ORDER BY UPPER(ward)
