-- policy: person
-- python: ask.group_by("urgent").agg(ward=mode("ward"), age=mode("age"))
SELECT urgent, MODE(ward) AS ward, MODE() WITHIN GROUP (ORDER BY age) AS age
FROM visits
GROUP BY urgent
