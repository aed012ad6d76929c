-- policy: person
-- python: ask.agg(older=sum("age + 1"), old=sum("CASE WHEN age > 90 THEN 1 ELSE 0 END"))
SELECT SUM(age + 1) AS older, SUM(CASE WHEN age > 90 THEN 1 ELSE 0 END) AS old FROM visits
