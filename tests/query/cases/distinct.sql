-- policy: person
-- python: ask.group_by("ward").agg(diagnoses=count_distinct("diagnosis"), n=count())
SELECT ward, COUNT(DISTINCT diagnosis) AS diagnoses, COUNT(*) AS n
FROM visits
GROUP BY ward
