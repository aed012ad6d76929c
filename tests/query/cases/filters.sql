-- policy: person
-- python: ask.where("admitted >= '2024-01-01' AND ward IN ('A', 'B') AND NOT (note LIKE 'it%') AND (urgent OR age BETWEEN 3 AND 50) AND cost IS NOT NULL").agg(n=count())
SELECT COUNT(*) AS n FROM visits WHERE admitted >= '2024-01-01' AND ward IN ('A', 'B') AND NOT (note LIKE 'it%') AND (urgent OR age BETWEEN 3 AND 50) AND cost IS NOT NULL
