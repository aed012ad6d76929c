-- policy: town
-- python: QuestionBuilder("visits").where("STARTS_WITH(LOWER(TRIM(note)), 'a') OR LENGTH(note) < 3").group_by(month="EXTRACT(month FROM day)").agg(s=sum("ROUND(SQRT(cost), 1) + cost % 7"), d=sum("CLAMP(DATE_DIFF('day', day, DATE '2026-01-01'), 0, 3650)"))
SELECT EXTRACT(month FROM day) AS month, SUM(ROUND(SQRT(cost), 1) + cost % 7) AS s, SUM(CLAMP(DATE_DIFF('day', day, DATE '2026-01-01'), 0, 3650)) AS d FROM visits WHERE STARTS_WITH(LOWER(TRIM(note)), 'a') OR LENGTH(note) < 3 GROUP BY month
